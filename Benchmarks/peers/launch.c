// Runs a program COUNT times without its output: launch COUNT PROGRAM ARGUMENT... Prints the median time from before
// the fork to the exit in µs, and the largest peak memory in KiB. In C, because a child's peak includes the memory of
// the process that forked it.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e6 + t.tv_nsec * 1e-3;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

int main(int argc, char **argv) {
    if (argc < 3) return 64;
    int count = atoi(argv[1]), null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    double *times = malloc(count * sizeof *times);
    long peak = 0;
    for (int i = 0; i < count; i++) {
        double start = now();
        pid_t child = vfork();
        if (child == 0) {
            dup2(null, 1);
            execv(argv[2], argv + 2);
            _exit(127);
        }
        int status;
        struct rusage usage;
        if (child < 0 || wait4(child, &status, 0, &usage) < 0) return 71;
        times[i] = now() - start;
        if (status) return fprintf(stderr, "%s ended with status %d\n", argv[2], status), 70;
        if (usage.ru_maxrss > peak) peak = usage.ru_maxrss;
    }
    qsort(times, count, sizeof *times, ascending);
    printf("%.1f %ld\n", times[count / 2], peak);
    return 0;
}
