#ifndef NANO_SIM_CONSOLE_H
#define NANO_SIM_CONSOLE_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>

#include "verbs.h"

// Verbs on stdin, one per line. Each gets one line of reply on stdout, `ok ...` or `error ...`, once it has taken
// effect.

enum { console_line_size = 256 };

struct console {
    struct hands *hands;

    char input[console_line_size];
    size_t input_length;
    // Whether the current line is longer than `input`.
    bool too_long;
    // Whether stdin has ended.
    bool ended;

    // Whether a reply is due: to `waiting_line`, once its verb has ended, which it has when `hands->ended` has reached
    // `awaited`.
    bool is_waiting;
    char waiting_line[console_line_size];
    uint64_t awaited;
};

// Sends a reply that is due, then reads and performs verbs as long as none is in progress. Never blocks.
void console_step(struct console *console);

// Whether stdin has ended and everything was replied to.
bool console_is_done(const struct console *console);

// The event for which a caller of poll() must wait.
struct pollfd console_source(const struct console *console);

#endif
