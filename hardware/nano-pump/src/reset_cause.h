#pragma once

#include <stdint.h>

/// A marker in RAM that survives a reset, and usually a short loss of power too. A value that is none of these means
/// that the power was off.
enum class Trace : uint16_t {
    /// The start-up code had run, but the sketch had not begun.
    none = 0,
    /// The sketch had begun, and the main loop was not hung.
    running = 0x52a5,
    /// The main loop had not fed the watchdog for most of its time-out.
    hung = 0x4e5a,
};

/// Returns the reason for the board's start, for the banner.
///
/// - `flags`: the register MCUSR. Optiboot clears it before the sketch can read it; only the trace is left then.
const char *resetCause(uint8_t flags, Trace trace);
