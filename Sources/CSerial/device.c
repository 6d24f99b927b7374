#define _GNU_SOURCE
#include "CSerial.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

int cserial_open_pty(int *master, char *slave_path, size_t capacity) {
    int fd = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) return errno;
    int error = 0;
    if (grantpt(fd) < 0 || unlockpt(fd) < 0) error = errno;
    else error = ptsname_r(fd, slave_path, capacity);
    if (error) {
        close(fd);
        return error;
    }
    *master = fd;
    return 0;
}

// The device majors of /dev/pts.
static int has_slave_major(uint32_t major) { return major >= 136 && major <= 143; }

int cserial_is_pty_slave(int fd, int *is_slave) {
    struct stat s;
    if (fstat(fd, &s) < 0) return errno;
    *is_slave = S_ISCHR(s.st_mode) && has_slave_major(major(s.st_rdev));
    return 0;
}

int cserial_device_number(const char *path, uint64_t *device, uint64_t *file_system) {
    struct statx s;
    if (statx(AT_FDCWD, path, AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC, STATX_TYPE, &s) < 0) return errno;
    *device = S_ISCHR(s.stx_mode) ? makedev(s.stx_rdev_major, s.stx_rdev_minor) : 0;
    *file_system = *device && has_slave_major(s.stx_rdev_major) ? makedev(s.stx_dev_major, s.stx_dev_minor) : 0;
    return 0;
}

int cserial_pty_slave(const char *path, uint32_t *number, uint64_t *file_system) {
    struct statx s;
    if (statx(AT_FDCWD, path, AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC, STATX_TYPE, &s) < 0) return errno;
    // The minor alone is the terminal's number: the kernel gives all terminals the first of these majors.
    if (!S_ISCHR(s.stx_mode) || !has_slave_major(s.stx_rdev_major)) return ENOTTY;
    *number = s.stx_rdev_minor;
    *file_system = makedev(s.stx_dev_major, s.stx_dev_minor);
    return 0;
}
