#pragma once

#include <stddef.h>

/// Assembles received bytes into lines, each ended by `\n` or `\r`. Empty ones are ignored, and so are those that are too
/// long.
class CommandLine {
public:
    /// Bytes that a line may have, without its end.
    static const size_t limit = 63;

    /// Takes one byte; true when it ends a line, which `text` then has until the next byte.
    bool receive(char byte);

    /// The line, ended by a NUL.
    const char *text() const { return _text; }

private:
    char _text[limit + 1] = {};
    size_t _length = 0;
    bool _tooLong = false;
};
