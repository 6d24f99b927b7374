// The lower bound for a command's round trip: one write, and reads until the end of the reply. roundtrip PORT COUNT,
// where PORT is the path of a terminal, or unix:PATH. Prints the median, the CPU time of a round trip, and the 99th
// percentile, all in µs.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "connect.h"

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e6 + t.tv_nsec * 1e-3;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double cpu(void) {
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e6 + u.ru_utime.tv_usec + u.ru_stime.tv_usec;
}

static int open_terminal(const char *path) {
    int port = open(path, O_RDWR | O_NOCTTY);
    struct termios settings;
    if (port < 0 || tcgetattr(port, &settings)) return -1;
    cfmakeraw(&settings);
    cfsetspeed(&settings, B9600);
    tcsetattr(port, TCSANOW, &settings);
    return port;
}

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    int count = atoi(argv[2]), port = strncmp(argv[1], "unix:", 5) ? open_terminal(argv[1]) : connect_to(argv[1]);
    if (port < 0) return 1;
    double *times = malloc(count * sizeof *times), cpu0 = cpu();
    static char buffer[1 << 16];
    for (int i = 0; i < count; i++) {
        double start = now();
        if (write(port, "STATUS\n", 7) != 7) return 1;
        size_t length = 0;
        do {
            ssize_t n = read(port, buffer + length, sizeof buffer - length);
            if (n <= 0) return 1;
            length += n;
            // The pump may send an unsolicited line before the reply.
        } while (buffer[length - 1] != '\n' || !memmem(buffer, length, "STATUS:", 7));
        times[i] = now() - start;
    }
    double used = cpu() - cpu0;
    qsort(times, count, sizeof *times, ascending);
    printf("%.2f %.2f %.2f\n", times[count / 2], used / count, times[count * 99 / 100]);
    return 0;
}
