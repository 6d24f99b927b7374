// A storm sensor without a firmware: storm BYTES prints the path of its pseudo-terminal. Replies to each line with a
// log of BYTES bytes, as fast as the reader takes it. Runs until its standard input ends.
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

static const char prefix[] = "LOG Values: ", row[] = "12 3 104 -0.0123\r\n";

int main(int argc, char **argv) {
    if (argc != 2) return 64;
    size_t length = atol(argv[1]), left = 0;
    int master = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK);
    if (master < 0 || grantpt(master) || unlockpt(master)) return 1;
    // Held open, so that reads of the master do not fail while no client has the terminal open.
    int slave = open(ptsname(master), O_RDWR | O_NOCTTY);
    struct termios settings;
    tcgetattr(slave, &settings);
    cfmakeraw(&settings);
    tcsetattr(slave, TCSANOW, &settings);
    puts(ptsname(master));
    fflush(stdout);
    char *log = malloc(length), buffer[256];
    size_t filled = sizeof prefix - 1;
    memcpy(log, prefix, filled);
    while (filled < length) {
        size_t part = length - filled < sizeof row - 1 ? length - filled : sizeof row - 1;
        // If the last row does not fit, only its end is kept, so that the log still ends with a line end.
        memcpy(log + filled, row + (sizeof row - 1 - part), part);
        filled += part;
    }
    struct pollfd wait[2] = {{master, POLLIN, 0}, {0, POLLIN, 0}};
    for (;;) {
        wait[0].events = POLLIN | (left ? POLLOUT : 0);
        if (poll(wait, 2, -1) <= 0) continue;
        if (wait[1].revents) return 0;
        if (wait[0].revents & POLLIN) {
            ssize_t count = read(master, buffer, sizeof buffer);
            if (count > 0 && memchr(buffer, '\n', count)) left = length;
        }
        while (left) {
            ssize_t count = write(master, log + length - left, left < 65536 ? left : 65536);
            if (count <= 0) break;
            left -= count;
        }
    }
}
