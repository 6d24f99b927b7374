#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/inotify.h>

// Wrappers for interfaces that Swift cannot call: termios2, serial_struct, statx and the pty functions behind feature
// macros. No kernel type appears in this header, since the kernel's <asm/termbits.h> and glibc's <termios.h> both
// define `struct termios`. Every function returns 0, or an errno, such as that of a failed call.

enum { CSERIAL_PARITY_NONE, CSERIAL_PARITY_ODD, CSERIAL_PARITY_EVEN, CSERIAL_PARITY_MARK, CSERIAL_PARITY_SPACE };
enum { CSERIAL_FLOW_NONE, CSERIAL_FLOW_RTS_CTS, CSERIAL_FLOW_XON_XOFF };

/// The line settings of a terminal. `speed` is in bit/s. `raw` is 1 if bytes pass unchanged and a read returns as soon
/// as one byte is available; `echo` is 1 if input is echoed.
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

/// Stores the settings that are in force.
int cserial_get_settings(int fd, cserial_settings *taken);

/// Puts the terminal in raw mode with the settings `wanted`, and stores the settings that the driver chose in `taken`
/// and the previous ones in `before`. If the terminal already has the wanted settings, nothing is written.
/// `wanted->raw` and `wanted->echo` are ignored.
int cserial_set_settings(
    int fd, const cserial_settings *wanted, cserial_settings *taken, cserial_settings *before);

/// Stores whether the terminal is in exclusive mode (TIOCEXCL). Root finds out only this way: open(2) succeeds for
/// root.
int cserial_get_exclusive(int fd, int *exclusive);

/// Reads or changes the driver's flag ASYNC_LOW_LATENCY, by which an FTDI adapter delivers each byte at once.
int cserial_get_low_latency(int fd, int *enabled);
int cserial_set_low_latency(int fd, int enabled);

/// Stores whether the transmitter's own buffer is empty. Fails, for example with ENOTTY, if the driver cannot tell.
int cserial_get_transmitter_empty(int fd, int *empty);

/// Opens the master of a new pseudo-terminal (non-blocking, close-on-exec), unlocks its slave and stores the slave's
/// path.
int cserial_open_pty(int *master, char *slave_path, size_t capacity);

/// Turns packet mode of a pty master on or off. In packet mode each read begins with a byte that reports changes by the
/// slave's user (TIOCPKT), including changes of the line settings (EXTPROC).
int cserial_set_packet_mode(int master, int enabled);

/// Stores whether a descriptor is the slave of a pseudo-terminal.
int cserial_is_pty_slave(int fd, int *is_slave);

/// Stores the number of the pseudo-terminal whose slave is behind a path, and its file system: each container may have
/// one, with terminals of the same numbers. Fails with ENOTTY if the path leads to anything else.
int cserial_pty_slave(const char *path, uint32_t *number, uint64_t *file_system);

/// Stores the device number behind a path, or 0 if the path is no character device. For the slave of a pseudo-terminal,
/// also stores its file system; 0 for other devices. Never queries a network file system.
int cserial_device_number(const char *path, uint64_t *device, uint64_t *file_system);
