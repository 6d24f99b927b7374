#define _GNU_SOURCE
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "CDescriptorIO.h"

int cdescriptorio_pidfd_open(int process) { return (int)syscall(SYS_pidfd_open, process, 0); }

int cdescriptorio_add_close_from(void *actions, int first) {
    return posix_spawn_file_actions_addclosefrom_np(actions, first);
}

void cdescriptorio_keep_children(void) {
    struct sigaction action;
    if (sigaction(SIGCHLD, NULL, &action) == 0 && action.sa_handler == SIG_IGN) signal(SIGCHLD, SIG_DFL);
}
