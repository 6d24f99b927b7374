#ifndef NANO_SIM_SERIAL_LINE_H
#define NANO_SIM_SERIAL_LINE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "board.h"

// UART0 on a pty, or in the hands of a host that gives and takes its bytes itself. Bytes towards the firmware keep the baud
// rate in simulated time; bytes from it wait for a slow client, up to a bound.

enum { line_pty_name_size = 128, line_incoming_size = 256, line_outgoing_size = 65536 };

struct serial_line {
    struct board *board;
    // -1 where there is no pty.
    int master;
    // The client's side, held open: clients may come and go, and the pty does not hang up.
    int slave;
    char pty_name[line_pty_name_size];
    // The symbolic link to the pty, or NULL.
    const char *link;

    uint64_t cycles_per_byte;
    bool delivering;
    // The UART's input is full.
    bool paused;
    uint8_t incoming[line_incoming_size];
    size_t incoming_begin, incoming_end;

    // A ring.
    uint8_t outgoing[line_outgoing_size];
    size_t outgoing_begin, outgoing_count;

    // Bytes since the start: to the firmware, from it, and lost because no client read them.
    uint64_t received, sent, dropped;
    // When a byte went either way last.
    uint64_t busy_cycles;
};

// Opens the pty, makes the link, and connects to the board's UART. False, with a message on stderr, if that fails.
bool line_open(struct serial_line *line, struct board *board, long baud, const char *link);

// The same without a pty.
void line_connect(struct serial_line *line, struct board *board, long baud);

// Puts bytes on their way to the firmware. False, with none of them taken, where so many can't wait.
bool line_give(struct serial_line *line, const uint8_t *bytes, size_t count);

// Takes what the firmware has sent, at most `limit` bytes; returns how many.
size_t line_take(struct serial_line *line, uint8_t *bytes, size_t limit);

// Moves bytes between the pty and the buffers; never blocks.
void line_exchange(struct serial_line *line);

// Whether bytes are on their way to the firmware.
bool line_has_input(const struct serial_line *line);

// The board is being reset: what was on its way to it is lost.
void line_reset(struct serial_line *line);

// Closes the pty, and removes the link, unless another has taken its place.
void line_close(struct serial_line *line);

#endif
