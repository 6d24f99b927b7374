#ifndef NANO_SIM_CONSOLE_H
#define NANO_SIM_CONSOLE_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>

#include "verbs.h"

// Verbs on stdin, one a line, each answered on stdout by one line, `ok ...` or `error ...`, once it has taken effect.

enum { console_line_size = 256 };

struct console {
    struct hands *hands;

    char input[console_line_size];
    size_t input_length;
    // The line being read is longer than `input`.
    bool too_long;
    bool ended;

    // The line that is answered once what it asks for has ended: `hands->ended` has come so far.
    bool is_waiting;
    char waiting_line[console_line_size];
    uint64_t awaited;
};

// Answers what is due, then reads and obeys what has come, as far as the hands are free; never blocks.
void console_step(struct console *console);

// Whether stdin has ended and all that came is answered.
bool console_is_done(const struct console *console);

// What to wait for until there is something to do.
struct pollfd console_source(const struct console *console);

#endif
