// Pseudo-terminals that never reply: terminals COUNT prints the path of each, and discards their input. Runs until a
// signal ends it.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

int main(int argc, char **argv) {
    if (argc != 2) return 64;
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    int set = epoll_create1(EPOLL_CLOEXEC);
    for (int left = atoi(argv[1]); left > 0; left--) {
        int master = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
        if (master < 0 || grantpt(master) || unlockpt(master)) return perror("terminals"), 1;
        struct epoll_event event = {.events = EPOLLIN, .data.fd = master};
        epoll_ctl(set, EPOLL_CTL_ADD, master, &event);
        puts(ptsname(master));
    }
    fflush(stdout);
    for (;;) {
        struct epoll_event events[128];
        char bytes[4096];
        int count = epoll_wait(set, events, 128, -1);
        for (int i = 0; i < count; i++)
            while (read(events[i].data.fd, bytes, sizeof bytes) > 0) continue;
    }
}
