#include "CSerial.h"

#include <asm/ioctls.h>
#include <errno.h>
#include <linux/serial.h>
#include <linux/tty_flags.h>
#include <sys/ioctl.h>

int cserial_get_exclusive(int fd, int *exclusive) {
    return ioctl(fd, TIOCGEXCL, exclusive) < 0 ? errno : 0;
}

int cserial_get_low_latency(int fd, int *enabled) {
    struct serial_struct s;
    if (ioctl(fd, TIOCGSERIAL, &s) < 0) return errno;
    *enabled = (s.flags & ASYNC_LOW_LATENCY) != 0;
    return 0;
}

int cserial_set_low_latency(int fd, int enabled) {
    struct serial_struct s;
    if (ioctl(fd, TIOCGSERIAL, &s) < 0) return errno;
    if (enabled) s.flags |= ASYNC_LOW_LATENCY;
    else s.flags &= ~ASYNC_LOW_LATENCY;
    return ioctl(fd, TIOCSSERIAL, &s) < 0 ? errno : 0;
}

int cserial_get_transmitter_empty(int fd, int *empty) {
    unsigned int status;
    if (ioctl(fd, TIOCSERGETLSR, &status) < 0) return errno;
    *empty = (status & TIOCSER_TEMT) != 0;
    return 0;
}
