#ifndef NANO_SIM_SERIAL_LINE_H
#define NANO_SIM_SERIAL_LINE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "board.h"

// UART0 on a pty, or controlled by a host that exchanges bytes directly. Bytes to the firmware keep the baud rate in
// simulated time; bytes from the firmware wait for a slow client, up to a limit.

enum { line_pty_name_size = 128, line_incoming_size = 256, line_outgoing_size = 65536 };

struct serial_line {
    struct board *board;
    // -1 if there is no pty.
    int master;
    // The client's side, held open so that the pty does not hang up when clients come and go.
    int slave;
    char pty_name[line_pty_name_size];
    // The path of a symbolic link to the pty, or NULL.
    const char *link;

    uint64_t cycles_per_byte;
    // Whether a timer of simavr passes `incoming` to the UART.
    bool delivering;
    // Whether the UART's input is full.
    bool paused;
    uint8_t incoming[line_incoming_size];
    size_t incoming_begin, incoming_end;

    // The firmware's output that no client has taken yet, in a ring buffer.
    uint8_t outgoing[line_outgoing_size];
    size_t outgoing_begin, outgoing_count;

    // Bytes since the start: to the firmware, from the firmware, and lost because no client read them.
    uint64_t received, sent, dropped;
    // The board's time of the last byte in either direction.
    uint64_t busy_cycles;
};

// Opens the pty, creates the link, and connects to the board's UART. False, with a message on stderr, on failure.
bool line_open(struct serial_line *line, struct board *board, long baud, const char *link);

// Connects to the board's UART without a pty.
void line_connect(struct serial_line *line, struct board *board, long baud);

// Queues bytes for the firmware. False, with none accepted, if there is no room for all of them.
bool line_give(struct serial_line *line, const uint8_t *bytes, size_t count);

// Takes at most `limit` bytes of the firmware's output; returns their number.
size_t line_take(struct serial_line *line, uint8_t *bytes, size_t limit);

// Transfers bytes between the pty and the buffers. Never blocks.
void line_exchange(struct serial_line *line);

// Whether bytes for the firmware are pending.
bool line_has_input(const struct serial_line *line);

// Drops pending bytes for the firmware at a reset of the board.
void line_reset(struct serial_line *line);

// Closes the pty, and removes the link unless another program has replaced it.
void line_close(struct serial_line *line);

#endif
