#define _GNU_SOURCE
#include <spawn.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "CDescriptorIO.h"

int cdescriptorio_pidfd_open(int process) { return (int)syscall(SYS_pidfd_open, process, 0); }

int cdescriptorio_add_close_from(void *actions, int first) {
    return posix_spawn_file_actions_addclosefrom_np(actions, first);
}
