// A wrapper for sched_setattr(2), which the C library of Debian 12 lacks.
#pragma once
#include <stdint.h>

/// Sets the nice value of the calling thread, and the length of its time slices if the kernel supports that (Linux
/// 6.12). Returns 0, or -1 with errno set.
int crecorder_schedule(int niceness, uint64_t slice_ns);
