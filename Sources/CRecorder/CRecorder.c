#include "CRecorder.h"
#include <linux/sched.h>
#include <linux/sched/types.h>
#include <sys/syscall.h>
#include <unistd.h>

int crecorder_schedule(int niceness, uint64_t slice_ns) {
    struct sched_attr attributes = {
        .size = sizeof attributes,
        .sched_policy = SCHED_NORMAL,
        .sched_nice = niceness,
        .sched_runtime = slice_ns,
    };
    return (int)syscall(SYS_sched_setattr, 0, &attributes, 0);
}
