#pragma once

#include <stdint.h>

/// What is kept in RAM through a reset, and mostly also while the power is off for a moment. Other values mean that the
/// power was off.
enum class Trace : uint16_t {
    none = 0,
    /// The main loop was going round.
    running = 0x52a5,
    /// The main loop had not been round for most of the watchdog's time.
    hung = 0x4e5a,
};

/// Why the board has started, for the banner.
///
/// - `flags`: the register MCUSR. Optiboot clears it before the sketch can read it; then the trace has to do.
const char *resetCause(uint8_t flags, Trace trace);
