#include "pty_line.h"

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <stdio.h>
#include <stdlib.h>
#include <sysexits.h>
#include <termios.h>
#include <unistd.h>

PtyLine::PtyLine() {
    char name[128];
    if (openpty(&_master, &_slave, name, nullptr, nullptr) != 0) {
        perror("esp32-sim: cannot open a pty");
        exit(EX_CANTCREAT);
    }
    termios settings;
    tcgetattr(_slave, &settings);
    cfmakeraw(&settings);
    cfsetspeed(&settings, B115200);
    tcsetattr(_slave, TCSANOW, &settings);
    fcntl(_master, F_SETFL, O_NONBLOCK);
    printf("PTY %s\n", name);
    fflush(stdout);
}

bool PtyLine::receive(char &byte) {
    if (_incoming.empty()) {
        return false;
    }
    byte = _incoming[0];
    _incoming.erase(0, 1);
    return true;
}

bool PtyLine::takeCommand(std::string &command) {
    size_t end = _input.find('\n');
    if (end == std::string::npos) {
        return false;
    }
    command = _input.substr(0, end);
    _input.erase(0, end + 1);
    return true;
}

void PtyLine::exchange(bool isBusy) {
    pollfd sources[] = {
        {_master, short(POLLIN | (_outgoing.empty() ? 0 : POLLOUT)), 0},
        {STDIN_FILENO, POLLIN, 0},
    };
    // A busy firmware without room in the buffer waits for room.
    if (poll(sources, 2, isBusy && room() > 0 ? 0 : -1) < 0) {
        return;
    }
    char bytes[4096];
    if (sources[0].revents & POLLIN) {
        ssize_t count = read(_master, bytes, sizeof bytes);
        if (count > 0) {
            _incoming.append(bytes, size_t(count));
        }
    }
    if (sources[0].revents & POLLOUT) {
        ssize_t count = ::write(_master, _outgoing.data(), _outgoing.size());
        if (count > 0) {
            _outgoing.erase(0, size_t(count));
        }
    }
    if (sources[1].revents != 0) {
        ssize_t count = read(STDIN_FILENO, bytes, sizeof bytes);
        if (count > 0) {
            _input.append(bytes, size_t(count));
        } else {
            _hasEnded = true;
        }
    }
}
