#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/inotify.h>

// What Swift cannot call: termios2, serial_struct, statx and the feature-guarded half of the pty calls. No kernel type
// crosses this header. Every function returns 0, or the errno of the call that failed.

enum { CSERIAL_PARITY_NONE, CSERIAL_PARITY_ODD, CSERIAL_PARITY_EVEN, CSERIAL_PARITY_MARK, CSERIAL_PARITY_SPACE };
enum { CSERIAL_FLOW_NONE, CSERIAL_FLOW_RTS_CTS, CSERIAL_FLOW_XON_XOFF };

/// The line settings of a terminal. `raw` is 1 when bytes pass unchanged and a read returns as soon as one is there;
/// `echo` is 1 when what comes in is sent back.
typedef struct {
    uint32_t speed;
    int32_t data_bits;
    int32_t parity;
    int32_t stop_bits;
    int32_t flow_control;
    int32_t hang_up_on_close;
    int32_t raw;
    int32_t echo;
} cserial_settings;

int cserial_get_settings(int fd, cserial_settings *taken);

/// Puts the terminal in raw mode with the settings wanted and reads back what the driver took. The write and the second
/// read are left out when the terminal already is as wanted. `wanted->raw` is ignored. `before` is what was in force until
/// then.
int cserial_set_settings(
    int fd, const cserial_settings *wanted, cserial_settings *taken, cserial_settings *before);

/// Whether TIOCEXCL is in force. Unlike open(2), this tells root too.
int cserial_get_exclusive(int fd, int *exclusive);

int cserial_get_low_latency(int fd, int *enabled);
int cserial_set_low_latency(int fd, int enabled);

/// Whether the transmitter's own buffer is empty; ENOTTY where the driver cannot tell.
int cserial_get_transmitter_empty(int fd, int *empty);

/// Opens the master of a new pseudo-terminal (non-blocking, close-on-exec), unlocks its slave and names it.
int cserial_open_pty(int *master, char *slave_path, size_t capacity);

/// On a pty master: whether each read begins with a byte that says what the slave's user changed (TIOCPKT), changes of
/// its line settings included (EXTPROC).
int cserial_set_packet_mode(int master, int enabled);

/// Whether a descriptor is the slave of a pseudo-terminal.
int cserial_is_pty_slave(int fd, int *is_slave);

/// The number of the pseudo-terminal whose slave is behind a path, and the file system that holds it: each container may
/// have one, with terminals of the same numbers. ENOTTY for anything else.
int cserial_pty_slave(const char *path, uint32_t *number, uint64_t *file_system);

/// The device number behind a path, and 0 for what is no character device; for the slave of a pseudo-terminal also the
/// file system that holds it, 0 for other devices. Never asks a network file system.
int cserial_device_number(const char *path, uint64_t *device, uint64_t *file_system);
