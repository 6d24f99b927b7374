// What Swift's Glibc module leaves out.
#pragma once
#include <poll.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>

/// epoll_wait(2) with a time-out in nanoseconds, which pacing at 115200 baud needs; a negative one waits for ever.
int cdescriptorio_epoll_wait(int set, struct epoll_event *events, int count, int64_t timeout_ns);

/// poll(2) with such a time-out.
int cdescriptorio_poll(struct pollfd *descriptors, unsigned long count, int64_t timeout_ns);

/// The number of arguments that the program was started with, its name among them.
int cdescriptorio_argument_count(void);

/// All of them, and NULL behind the last.
char **cdescriptorio_arguments(void);

/// One of them; NULL beyond the last.
const char *cdescriptorio_argument(int index);

/// The path by which the program was started; NULL if the kernel does not tell.
const char *cdescriptorio_started_path(void);

/// pidfd_open(2), which can be waited on until that process has ended.
int cdescriptorio_pidfd_open(int process);

/// pthread_create(3) of a thread that has the signals of a sigset_t blocked from its first moment on: none reaches it before.
int cdescriptorio_start_thread(
    unsigned long *thread, const void *blocked, void *(*body)(void *), void *argument);

/// Returns in a child process if this is process 1 of a container, and at once otherwise. Process 1 itself stays behind: it passes
/// signals on, takes the status of orphans, which nobody else does, and ends as the child does. To be called before there are
/// threads.
void cdescriptorio_leave_init(void);

/// From now on counts how often the process is continued by SIGCONT.
void cdescriptorio_count_continuations(void);

/// How often it was.
unsigned cdescriptorio_continuations(void);
