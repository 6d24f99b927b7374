#include <sys/syscall.h>
#include <unistd.h>

#include "CDescriptorIO.h"

int cdescriptorio_pidfd_open(int process) { return (int)syscall(SYS_pidfd_open, process, 0); }
