#pragma once

#include <stdint.h>

/// Assembles the bytes of the UART into commands, and holds one finished command until the caller clears it.
///
/// A command ends with `\n` or `\r`. Empty commands are ignored, so `\r\n` ends one command.
class CommandLine {
public:
    /// The maximum length of a command in bytes, without its terminator.
    static const uint8_t limit = 63;

    enum class Pending : uint8_t {
        nothing,
        command,
        /// More than `limit` bytes arrived without a terminator.
        overflow,
    };

    /// Takes one byte. Refuses it (false) while a command is pending, so that the byte can wait in the UART's own
    /// buffer.
    bool receive(char byte);

    Pending pending() const { return _pending; }

    /// The pending command, NUL-terminated. A NUL inside the command ends it early.
    const char *text() const { return _text; }

    /// Discards the pending command and begins the next one.
    void clear();

private:
    char _text[limit + 1] = {};
    uint8_t _length = 0;
    Pending _pending = Pending::nothing;
};
