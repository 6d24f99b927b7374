#include "reset_cause.h"

namespace {

// The ATmega328P's data sheet, MCUSR.
const uint8_t powerOn = 1 << 0;
const uint8_t external = 1 << 1;
const uint8_t brownOut = 1 << 2;
const uint8_t watchdog = 1 << 3;

}

const char *resetCause(uint8_t flags, Trace trace) {
    // When the power comes up slowly, that is a brown-out too.
    if (flags & powerOn) {
        return "power-on";
    }
    if (flags & watchdog) {
        return "watchdog";
    }
    if (flags & brownOut) {
        return "brown-out";
    }
    if (flags & external) {
        return "external";
    }
    switch (trace) {
    case Trace::running:
        return "external, brown-out or power";
    case Trace::hung:
        return "watchdog";
    case Trace::none:
        break;
    }
    return "power-on";
}
