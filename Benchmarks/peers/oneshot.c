// The lower bound for one command from exec to exit: opens and locks the port, sets raw mode at 9600 baud, sends
// STATUS, and prints the reply. oneshot PORT
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <termios.h>
#include <unistd.h>

int main(int argc, char **argv) {
    if (argc != 2) return 64;
    int port = open(argv[1], O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    if (port < 0) return 66;
    if (flock(port, LOCK_EX | LOCK_NB)) return 69;
    struct termios settings;
    if (tcgetattr(port, &settings)) return 74;
    cfmakeraw(&settings);
    cfsetspeed(&settings, B9600);
    if (tcsetattr(port, TCSANOW, &settings)) return 74;
    if (write(port, "STATUS\n", 7) != 7) return 74;
    char line[1024];
    size_t length = 0;
    struct pollfd wait = {port, POLLIN, 0};
    do {
        if (length == sizeof line - 1) return 76;
        if (poll(&wait, 1, 3000) <= 0) return 75;
        ssize_t count = read(port, line + length, sizeof line - 1 - length);
        if (count <= 0) return 74;
        length += count;
    } while (line[length - 1] != '\n');
    line[length] = 0;
    char power[16];
    int speed, runtime, remaining;
    double water, skin;
    if (sscanf(line, "STATUS:{State:%15[^,],Speed:%d%%,Runtime:%dm,Remaining:%dm,WaterTemp:%lfC,SkinTemp:%lfC}", power,
               &speed, &runtime, &remaining, &water, &skin) != 6)
        return 76;
    printf("%s %d %% %d min %d min %.1f C %.1f C\n", power, speed, runtime, remaining, water, skin);
    close(port);
    return 0;
}
