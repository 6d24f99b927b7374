#define _GNU_SOURCE
#include "CDescriptorIO.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

void cdescriptorio_leave_init(void) {
    if (getpid() != 1) return;
    sigset_t all, mask;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &mask);
    pid_t child = fork();
    if (child <= 0) {
        sigprocmask(SIG_SETMASK, &mask, NULL);
        return;
    }
    for (;;) {
        siginfo_t info;
        int number = sigwaitinfo(&all, &info);
        if (number == SIGCHLD) {
            int status;
            for (pid_t process; (process = waitpid(-1, &status, WNOHANG)) > 0;) {
                if (process == child) _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
            }
        } else if (number > 0 && info.si_code != SI_KERNEL) {
            // Pass signals on, except those from the kernel: signals of a terminal also reach the child directly.
            kill(child, number);
        }
    }
}
