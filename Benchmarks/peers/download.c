// Requests a log of BYTES bytes from a storm sensor, and drops it: download PORT BYTES, where PORT is a TCP port of
// 127.0.0.1, or the path of a terminal. Prints the rate in MB/s from the first byte to the last.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <time.h>

#include "connect.h"

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

int main(int argc, char **argv) {
    if (argc != 3) return 64;
    int port = *argv[1] == '/' ? open(argv[1], O_RDWR | O_NOCTTY) : connect_to(argv[1]);
    if (port < 0 || write(port, "GET_LOG\n", 8) != 8) return perror("download"), 1;
    long length = atol(argv[2]), received = 0;
    double start = 0;
    static char buffer[1 << 16];
    while (received < length) {
        ssize_t count = read(port, buffer, sizeof buffer);
        if (count <= 0) return fprintf(stderr, "download: ended at %ld of %ld bytes\n", received, length), 1;
        if (!received) start = now();
        received += count;
    }
    printf("%.3f\n", length / (now() - start) * 1e-6);
    return 0;
}
