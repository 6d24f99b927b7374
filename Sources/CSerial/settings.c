#include "CSerial.h"

#include <asm/ioctls.h>
#include <asm/termbits.h>
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>

// Rates with a code of their own. The code is preferred to BOTHER, so that programs that use only the older termios,
// such as stty, can read the port's rate too.
static const struct {
    speed_t rate;
    tcflag_t code;
} standard_rates[] = {
    {50, B50}, {75, B75}, {110, B110}, {134, B134}, {150, B150}, {200, B200}, {300, B300}, {600, B600},
    {1200, B1200}, {1800, B1800}, {2400, B2400}, {4800, B4800}, {9600, B9600}, {19200, B19200}, {38400, B38400},
    {57600, B57600}, {115200, B115200}, {230400, B230400}, {460800, B460800}, {500000, B500000}, {576000, B576000},
    {921600, B921600}, {1000000, B1000000}, {1152000, B1152000}, {1500000, B1500000}, {2000000, B2000000},
    {2500000, B2500000}, {3000000, B3000000}, {3500000, B3500000}, {4000000, B4000000},
};

static const tcflag_t cooked_input =
    IGNBRK | BRKINT | PARMRK | INPCK | ISTRIP | INLCR | IGNCR | ICRNL | IUCLC | IXANY | IMAXBEL;
static const tcflag_t cooked_local = ECHO | ECHONL | ICANON | ISIG | IEXTEN;
static const tcflag_t rate_bits = CBAUD | CIBAUD;

static tcflag_t rate_code(speed_t rate) {
    for (size_t i = 0; i < sizeof standard_rates / sizeof *standard_rates; i++)
        if (standard_rates[i].rate == rate) return standard_rates[i].code;
    return BOTHER;
}

static int is_raw(const struct termios2 *t) {
    return !(t->c_iflag & cooked_input) && !(t->c_oflag & OPOST) && !(t->c_lflag & cooked_local)
        && (t->c_cflag & (CREAD | CLOCAL)) == (CREAD | CLOCAL) && t->c_cc[VMIN] == 1 && t->c_cc[VTIME] == 0;
}

static void decode(const struct termios2 *t, cserial_settings *s) {
    s->speed = t->c_ospeed;
    switch (t->c_cflag & CSIZE) {
    case CS5: s->data_bits = 5; break;
    case CS6: s->data_bits = 6; break;
    case CS7: s->data_bits = 7; break;
    default: s->data_bits = 8;
    }
    if (!(t->c_cflag & PARENB)) s->parity = CSERIAL_PARITY_NONE;
    else if (t->c_cflag & CMSPAR) s->parity = t->c_cflag & PARODD ? CSERIAL_PARITY_MARK : CSERIAL_PARITY_SPACE;
    else s->parity = t->c_cflag & PARODD ? CSERIAL_PARITY_ODD : CSERIAL_PARITY_EVEN;
    s->stop_bits = t->c_cflag & CSTOPB ? 2 : 1;
    if (t->c_cflag & CRTSCTS) s->flow_control = CSERIAL_FLOW_RTS_CTS;
    else s->flow_control = t->c_iflag & (IXON | IXOFF) ? CSERIAL_FLOW_XON_XOFF : CSERIAL_FLOW_NONE;
    s->hang_up_on_close = t->c_cflag & HUPCL ? 1 : 0;
    s->raw = is_raw(t);
    s->echo = t->c_lflag & ECHO ? 1 : 0;
}

static void encode(const cserial_settings *s, struct termios2 *t) {
    t->c_iflag &= ~(cooked_input | IXON | IXOFF);
    t->c_oflag &= ~OPOST;
    t->c_lflag &= ~cooked_local;
    t->c_cc[VMIN] = 1;
    t->c_cc[VTIME] = 0;

    // An input-rate code of 0 means that the input rate equals the output rate.
    t->c_cflag &= ~(rate_bits | CSIZE | PARENB | PARODD | CMSPAR | CSTOPB | CRTSCTS | HUPCL);
    t->c_cflag |= CREAD | CLOCAL | rate_code(s->speed);
    t->c_ispeed = t->c_ospeed = s->speed;
    switch (s->data_bits) {
    case 5: t->c_cflag |= CS5; break;
    case 6: t->c_cflag |= CS6; break;
    case 7: t->c_cflag |= CS7; break;
    default: t->c_cflag |= CS8;
    }
    switch (s->parity) {
    case CSERIAL_PARITY_ODD: t->c_cflag |= PARENB | PARODD; break;
    case CSERIAL_PARITY_EVEN: t->c_cflag |= PARENB; break;
    case CSERIAL_PARITY_MARK: t->c_cflag |= PARENB | PARODD | CMSPAR; break;
    case CSERIAL_PARITY_SPACE: t->c_cflag |= PARENB | CMSPAR; break;
    }
    if (s->stop_bits == 2) t->c_cflag |= CSTOPB;
    if (s->flow_control == CSERIAL_FLOW_RTS_CTS) t->c_cflag |= CRTSCTS;
    if (s->flow_control == CSERIAL_FLOW_XON_XOFF) t->c_iflag |= IXON | IXOFF;
    if (s->hang_up_on_close) t->c_cflag |= HUPCL;
}

// Whether two settings are equal. The rate bits are not compared, since a rate may be encoded by its code or by BOTHER;
// the speeds are compared instead.
static int same(const struct termios2 *a, const struct termios2 *b) {
    return a->c_iflag == b->c_iflag && a->c_oflag == b->c_oflag && a->c_lflag == b->c_lflag
        && (a->c_cflag & ~rate_bits) == (b->c_cflag & ~rate_bits) && a->c_ispeed == b->c_ispeed
        && a->c_ospeed == b->c_ospeed && !memcmp(a->c_cc, b->c_cc, sizeof a->c_cc);
}

int cserial_get_settings(int fd, cserial_settings *taken) {
    struct termios2 t;
    if (ioctl(fd, TCGETS2, &t) < 0) return errno;
    decode(&t, taken);
    return 0;
}

int cserial_set_settings(
    int fd, const cserial_settings *wanted, cserial_settings *taken, cserial_settings *before) {
    struct termios2 now;
    if (ioctl(fd, TCGETS2, &now) < 0) return errno;
    decode(&now, before);
    struct termios2 next = now;
    encode(wanted, &next);
    if (!same(&now, &next)) {
        if (ioctl(fd, TCSETS2, &next) < 0) return errno;
        // TCSETS2 succeeds if any of the changes took effect (pyserial#196). Reading back shows which.
        if (ioctl(fd, TCGETS2, &now) < 0) return errno;
    }
    decode(&now, taken);
    return 0;
}

int cserial_set_packet_mode(int master, int enabled) {
    struct termios2 t;
    if (ioctl(master, TIOCPKT, &enabled) < 0) return errno;
    if (ioctl(master, TCGETS2, &t) < 0) return errno;
    if (enabled) t.c_lflag |= EXTPROC;
    else t.c_lflag &= ~EXTPROC;
    return ioctl(master, TCSETS2, &t) < 0 ? errno : 0;
}
