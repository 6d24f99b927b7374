#include "reset_cause.h"

namespace {

// The bits of MCUSR, from the ATmega328P's data sheet.
const uint8_t powerOn = 1 << 0;
const uint8_t external = 1 << 1;
const uint8_t brownOut = 1 << 2;
const uint8_t watchdog = 1 << 3;

}

const char *resetCause(uint8_t flags, Trace trace) {
    // If the supply voltage rises slowly, the brown-out bit is set too.
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
