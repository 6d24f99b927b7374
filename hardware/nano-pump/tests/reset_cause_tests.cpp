#include "checks.h"
#include "reset_cause.h"

static void theFlagsGiveTheCause() {
    CHECK_TEXT(resetCause(1, Trace::none), "power-on");
    CHECK_TEXT(resetCause(2, Trace::running), "external");
    CHECK_TEXT(resetCause(4, Trace::running), "brown-out");
    CHECK_TEXT(resetCause(8, Trace::running), "watchdog");
}

static void ofSeveralFlagsTheFirstCauseCounts() {
    CHECK_TEXT(resetCause(1 | 4, Trace::none), "power-on");
    CHECK_TEXT(resetCause(1 | 2 | 4 | 8, Trace::none), "power-on");
    CHECK_TEXT(resetCause(8 | 2, Trace::hung), "watchdog");
    CHECK_TEXT(resetCause(4 | 2, Trace::running), "brown-out");
}

static void withoutFlagsTheTraceGivesTheCause() {
    CHECK_TEXT(resetCause(0, Trace::hung), "watchdog");
    CHECK_TEXT(resetCause(0, Trace::running), "external, brown-out or power");
    CHECK_TEXT(resetCause(0, Trace::none), "power-on");
    // A random RAM value after the power was off.
    CHECK_TEXT(resetCause(0, Trace(0xffff)), "power-on");
}

void checkResetCause() {
    theFlagsGiveTheCause();
    ofSeveralFlagsTheFirstCauseCounts();
    withoutFlagsTheTraceGivesTheCause();
}
