#define _GNU_SOURCE
#include "CDescriptorIO.h"
#include <errno.h>
#include <poll.h>
#include <time.h>

int cdescriptorio_epoll_wait(int set, struct epoll_event *events, int count, int64_t timeout_ns) {
    struct timespec limit = {timeout_ns / 1000000000, timeout_ns % 1000000000};
    const struct timespec *timeout = timeout_ns < 0 ? NULL : &limit;
    int result = epoll_pwait2(set, events, count, timeout, NULL);
    if (result >= 0 || (errno != ENOSYS && errno != EPERM)) return result;
    // Linux before 5.11, or a container whose filter does not know the call.
    struct pollfd any = {.fd = set, .events = POLLIN};
    result = ppoll(&any, 1, timeout, NULL);
    return result > 0 ? epoll_wait(set, events, count, 0) : result;
}
