#define _GNU_SOURCE
#include "CDescriptorIO.h"
#include <time.h>

int cdescriptorio_poll(struct pollfd *descriptors, unsigned long count, int64_t timeout_ns) {
    struct timespec timeout = {timeout_ns / 1000000000, timeout_ns % 1000000000};
    return ppoll(descriptors, count, timeout_ns < 0 ? NULL : &timeout, NULL);
}
