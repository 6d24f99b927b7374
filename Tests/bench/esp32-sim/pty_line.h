#pragma once

#include <stddef.h>

#include <string>

/// A serial line on a pseudo-terminal, and commands on standard input.
///
/// Bytes from the firmware wait for a slow client, up to a limit that the firmware sees as its UART's buffer.
class PtyLine {
public:
    /// Opens the pty and prints its path: `PTY /dev/pts/3`. Exits on failure.
    PtyLine();

    /// Reads one received byte; false if there is none.
    bool receive(char &byte);
    /// The number of bytes that can be written now.
    size_t room() const { return limit - _outgoing.size(); }
    void write(const char *bytes, size_t length) { _outgoing.append(bytes, length); }

    /// Takes the next line of standard input; false if there is none.
    bool takeCommand(std::string &command);
    /// Whether standard input has ended, and so the program must end.
    bool hasEnded() const { return _hasEnded; }

    /// Transfers bytes; first waits for something to do, unless `isBusy`.
    void exchange(bool isBusy);

private:
    static const size_t limit = 4096;

    int _master;
    /// The client's side, held open so that the pty does not hang up when clients come and go.
    int _slave;
    std::string _incoming;
    std::string _outgoing;
    std::string _input;
    bool _hasEnded = false;
};
