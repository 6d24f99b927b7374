// Declarations and wrappers that Swift's Glibc module lacks.
#pragma once
#include <poll.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>

/// epoll_wait(2) with a time-out in nanoseconds, which pacing at 115200 baud needs. A negative time-out waits for ever.
int cdescriptorio_epoll_wait(int set, struct epoll_event *events, int count, int64_t timeout_ns);

/// poll(2) with a time-out in nanoseconds; a negative one waits for ever.
int cdescriptorio_poll(struct pollfd *descriptors, unsigned long count, int64_t timeout_ns);

/// The number of the program's arguments, including its name.
int cdescriptorio_argument_count(void);

/// The program's arguments, followed by NULL.
char **cdescriptorio_arguments(void);

/// The argument at an index; NULL if there is none.
const char *cdescriptorio_argument(int index);

/// The path by which the program was started; NULL if the kernel did not pass it.
const char *cdescriptorio_started_path(void);

/// pidfd_open(2). The descriptor becomes readable when the process has ended.
int cdescriptorio_pidfd_open(int process);

/// posix_spawn_file_actions_addclosefrom_np(3), with a posix_spawn_file_actions_t.
int cdescriptorio_add_close_from(void *actions, int first);

/// Ends the ignoring of SIGCHLD, which a program may have inherited: the system would keep no exit status of a child.
void cdescriptorio_keep_children(void);

/// pthread_create(3) for a thread that blocks the signals of a sigset_t from its start, so that none ever reaches it.
int cdescriptorio_start_thread(
    unsigned long *thread, const void *blocked, void *(*body)(void *), void *argument);

/// If this is process 1 of a container, continues in a child process; otherwise, or if fork(2) fails, returns at once.
/// Process 1 itself passes signals on, reaps orphans, which no other process does, and ends with the child's status.
/// Must be called before there are threads.
void cdescriptorio_leave_init(void);

/// Starts counting the SIGCONT signals that the process receives.
void cdescriptorio_count_continuations(void);

/// The number of SIGCONT signals that the process has received since counting started.
unsigned cdescriptorio_continuations(void);
