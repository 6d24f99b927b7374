#pragma once

#include <stdint.h>

/// A parsed command line.
struct Command {
    enum class Kind : uint8_t { on, off, speed, status, temp, unknown };

    Kind kind;
    /// For `speed`: the number as written, not yet checked against 0-255. Otherwise 0.
    long value;

    /// Parses one line without its terminator, up to its first NUL. Ignores case; spaces are significant.
    ///
    /// Parses the speed like `atoi`: leading spaces and a sign are allowed, the number ends at the first byte that is
    /// not a digit, and text without digits is 0. Unlike AVR's 16-bit `atoi`, which devices in the field use, it
    /// saturates: 65736 is out of range here, and 200 there.
    static Command parse(const char *text);
};
