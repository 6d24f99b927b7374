#pragma once

#include <stdint.h>

/// Assembles the bytes of the UART into commands, and holds one finished command until it is taken.
///
/// A command ends with `\n` or `\r`; an empty one is ignored, so `\r\n` ends one command.
class CommandLine {
public:
    /// Bytes that a command may have, without its terminator.
    static const uint8_t limit = 63;

    enum class Pending : uint8_t {
        nothing,
        command,
        /// More than `limit` bytes came without a terminator.
        overflow,
    };

    /// Takes one byte. While something is pending the byte is refused, so that it can wait in the UART's own buffer.
    bool receive(char byte);

    Pending pending() const { return _pending; }

    /// The pending command, ended by a NUL: what follows a NUL of its own is not there.
    const char *text() const { return _text; }

    /// Forgets what is pending and begins the next command.
    void clear();

private:
    char _text[limit + 1] = {};
    uint8_t _length = 0;
    Pending _pending = Pending::nothing;
};
