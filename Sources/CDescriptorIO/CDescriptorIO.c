#define _GNU_SOURCE
#include "CDescriptorIO.h"
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>

int cdescriptorio_epoll_wait(int set, struct epoll_event *events, int count, int64_t timeout_ns) {
    struct timespec limit = {timeout_ns / 1000000000, timeout_ns % 1000000000};
    const struct timespec *timeout = timeout_ns < 0 ? NULL : &limit;
    int result = epoll_pwait2(set, events, count, timeout, NULL);
    if (result >= 0 || (errno != ENOSYS && errno != EPERM)) return result;
    // Linux before 5.11, or a container whose seccomp filter does not know the call.
    struct pollfd any = {.fd = set, .events = POLLIN};
    result = ppoll(&any, 1, timeout, NULL);
    return result > 0 ? epoll_wait(set, events, count, 0) : result;
}

int cdescriptorio_poll(struct pollfd *descriptors, unsigned long count, int64_t timeout_ns) {
    struct timespec limit = {timeout_ns / 1000000000, timeout_ns % 1000000000};
    return ppoll(descriptors, count, timeout_ns < 0 ? NULL : &limit, NULL);
}

static atomic_uint continuations;

static void count_continuation(int signal) {
    (void)signal;
    atomic_fetch_add(&continuations, 1);
}

void cdescriptorio_count_continuations(void) {
    struct sigaction action = {.sa_handler = count_continuation, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGCONT, &action, NULL);
}

unsigned cdescriptorio_continuations(void) { return atomic_load(&continuations); }
