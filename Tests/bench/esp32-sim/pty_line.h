#pragma once

#include <stddef.h>

#include <string>

/// A serial line on a pseudo-terminal, and commands on standard input.
///
/// Bytes from the firmware wait for a slow client, up to a limit, which the firmware takes for its UART's buffer size.
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
    /// Whether standard input has ended. The program must end then, too.
    bool hasEnded() const { return _hasEnded; }

    /// Transfers bytes. Before that, waits for input, or for a client to take output, unless `isBusy` and there is room
    /// for output.
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
