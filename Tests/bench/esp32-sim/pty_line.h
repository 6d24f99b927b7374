#pragma once

#include <stddef.h>

#include <string>

/// A serial line on a pseudo-terminal, and commands on standard input.
///
/// Bytes from the firmware wait for a slow client, up to a bound that the firmware sees as its UART's buffer.
class PtyLine {
public:
    /// Opens the pty, and says on standard output where it is: `PTY /dev/pts/3`. Exits where that fails.
    PtyLine();

    /// Reads one received byte; false when there is none.
    bool receive(char &byte);
    /// How many bytes are taken now.
    size_t room() const { return limit - _outgoing.size(); }
    void write(const char *bytes, size_t length) { _outgoing.append(bytes, length); }

    /// Takes the next line of standard input; false while there is none.
    bool takeCommand(std::string &command);
    /// Standard input has ended: the program is to end.
    bool hasEnded() const { return _hasEnded; }

    /// Moves bytes; waits for something to do first, unless `isBusy`.
    void exchange(bool isBusy);

private:
    static const size_t limit = 4096;

    int _master;
    /// The client's side, held open: clients may come and go, and the pty does not hang up.
    int _slave;
    std::string _incoming;
    std::string _outgoing;
    std::string _input;
    bool _hasEnded = false;
};
