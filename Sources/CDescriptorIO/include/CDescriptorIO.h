// What Swift's Glibc module leaves out.
#pragma once
#include <poll.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/signalfd.h>

/// ppoll(2) without a signal mask; a negative time-out waits for ever.
int cdescriptorio_poll(struct pollfd *descriptors, unsigned long count, int64_t timeout_ns);
