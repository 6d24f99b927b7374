#pragma once

#include <stddef.h>

/// Assembles received bytes into lines, each ended by `\n` or `\r`. Ignores empty lines and lines that are too long.
class CommandLine {
public:
    /// The maximum length of a line in bytes, without its terminator.
    static const size_t limit = 63;

    /// Takes one byte. True if the byte ends a line; `text` then returns that line until the next byte.
    bool receive(char byte);

    /// The line, NUL-terminated.
    const char *text() const { return _text; }

private:
    char _text[limit + 1] = {};
    size_t _length = 0;
    bool _tooLong = false;
};
