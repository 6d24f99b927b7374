#pragma once

#include <stdint.h>

/// What a command line asks for.
struct Command {
    enum class Kind : uint8_t { on, off, speed, status, temp, unknown };

    Kind kind;
    /// For `speed`: the number as written, not yet checked against 0-255. Otherwise 0.
    long value;

    /// Reads one line without its terminator, up to its first NUL. Case does not matter, spaces do.
    ///
    /// The speed is read as `atoi` reads it: leading spaces and a sign are allowed, it ends at the first byte that is no
    /// digit, and text without digits is 0. Unlike AVR's 16-bit `atoi`, which devices in the field use, it saturates:
    /// 65736 is out of range here, and 200 there.
    static Command parse(const char *text);
};
