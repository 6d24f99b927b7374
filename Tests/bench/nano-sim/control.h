#ifndef NANO_SIM_CONTROL_H
#define NANO_SIM_CONTROL_H

#include <stdbool.h>
#include <stddef.h>

#include "board.h"
#include "serial_line.h"

// Commands on stdin, one a line, each answered on stdout by one line, `ok ...` or `error ...`, once it has taken effect.

enum { control_line_size = 256 };

struct control {
    struct board *board;
    struct serial_line *line;

    char input[control_line_size];
    size_t input_length;
    // The line being read is longer than `input`.
    bool too_long;
    bool ended;
    bool quit;

    // What answers later, at a moment of simulated time; until then no other command is read.
    enum { waiting_for_nothing, waiting_for_time, waiting_for_release, waiting_for_settling } waiting;
    uint64_t waiting_until;
    double waiting_seconds;
};

// Reads a temperature in Celsius (-55 to 150), `open` or `short` as a thermistor's reading.
bool control_parse_thermistor(const char *text, uint16_t *reading);

// Reads 0-1023.
bool control_parse_reading(const char *text, uint16_t *reading);

// Answers what is due, then reads and obeys what has come; never blocks.
void control_step(struct control *control);

#endif
