// What the C library of Debian 12 lacks: sched_setattr(2).
#pragma once
#include <stdint.h>

/// Gives the calling thread a niceness, and slices of the processor of that length, where the kernel knows them (Linux 6.12).
/// 0, or -1 with errno set.
int crecorder_schedule(int niceness, uint64_t slice_ns);
