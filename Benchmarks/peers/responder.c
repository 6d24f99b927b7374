// A pump without a firmware: answers STATUS on a pseudo-terminal at once, so that a benchmark times the host alone.
// Prints the slave's path; lives until its standard input ends.
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

static const char reply[] =
    "STATUS:{State:ON,Speed:70%,Runtime:5m,Remaining:25m,WaterTemp:12.0C,SkinTemp:34.5C}\r\n";

int main(void) {
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    if (master < 0 || grantpt(master) || unlockpt(master)) return 1;
    // Held open so that the pseudo-terminal survives its clients.
    int slave = open(ptsname(master), O_RDWR | O_NOCTTY);
    struct termios settings;
    tcgetattr(slave, &settings);
    cfmakeraw(&settings);
    tcsetattr(slave, TCSANOW, &settings);
    puts(ptsname(master));
    fflush(stdout);
    struct pollfd wait[2] = {{master, POLLIN, 0}, {0, POLLIN, 0}};
    char buffer[256];
    while (poll(wait, 2, -1) > 0) {
        if (wait[1].revents) return 0;
        ssize_t count = read(master, buffer, sizeof buffer);
        for (ssize_t i = 0; i < count; i++)
            if (buffer[i] == '\n' && write(master, reply, sizeof reply - 1) < 0) return 1;
    }
    return 0;
}
