#include "control.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Longer than any debounce, and than two turns of a main loop.
static const uint64_t button_hold = board_frequency / 1000 * 300;
static const uint64_t button_settling = board_frequency / 1000 * 100;

static void answer(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void answer(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    putchar('\n');
    fflush(stdout);
}

static bool parse_number(const char *text, double least, double most, double *number) {
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end != '\0' || !(value >= least && value <= most)) {
        return false;
    }
    *number = value;
    return true;
}

bool control_parse_thermistor(const char *text, uint16_t *reading) {
    double celsius;
    if (strcmp(text, "open") == 0) {
        *reading = 0;
    } else if (strcmp(text, "short") == 0) {
        *reading = 1023;
    } else if (parse_number(text, -55, 150, &celsius)) {
        *reading = board_thermistor_reading(celsius);
    } else {
        return false;
    }
    return true;
}

bool control_parse_reading(const char *text, uint16_t *reading) {
    double number;
    if (!parse_number(text, 0, 1023, &number) || number != (uint16_t)number) {
        return false;
    }
    *reading = (uint16_t)number;
    return true;
}

static void set_thermistor(struct control *control, enum board_input input, const char *name, const char *argument) {
    uint16_t reading;
    if (!control_parse_thermistor(argument, &reading)) {
        answer("error %s takes -55 to 150 (Celsius), open or short", name);
        return;
    }
    board_set_input(control->board, input, reading);
    answer("ok %s %s", name, argument);
}

static void set_potentiometer(struct control *control, const char *argument) {
    uint16_t reading;
    if (!control_parse_reading(argument, &reading)) {
        answer("error pot takes 0 to 1023");
        return;
    }
    board_set_input(control->board, input_potentiometer, reading);
    answer("ok pot %u", reading);
}

static void press_button(struct control *control, const char *argument) {
    if (strcmp(argument, "press") != 0) {
        answer("error button takes press");
        return;
    }
    board_set_button(control->board, true);
    control->waiting = waiting_for_release;
    control->waiting_until = control->board->cycles + button_hold;
}

static void wait_for_time(struct control *control, const char *argument) {
    double seconds;
    if (!parse_number(argument, 0, 86400, &seconds)) {
        answer("error wait takes 0 to 86400 (seconds)");
        return;
    }
    control->waiting = waiting_for_time;
    control->waiting_until = control->board->cycles + (uint64_t)(seconds * board_frequency);
    control->waiting_seconds = seconds;
}

static void skip(struct control *control, const char *argument) {
    double seconds;
    if (!parse_number(argument, 0, 4294967, &seconds)) {
        answer("error skip takes 0 to 4294967 (seconds)");
    } else if (!board_skip(control->board, (uint32_t)(seconds * 1000))) {
        answer("error the firmware has no timer0_millis that could be moved");
    } else {
        answer("ok skip %g", seconds);
    }
}

static void obey(struct control *control, char *line) {
    char *argument = strchr(line, ' ');
    if (argument != NULL) {
        *argument++ = '\0';
    } else {
        argument = line + strlen(line);
    }
    bool bare = *argument == '\0';

    if (strcmp(line, "water") == 0) {
        set_thermistor(control, input_water, line, argument);
    } else if (strcmp(line, "skin") == 0) {
        set_thermistor(control, input_skin, line, argument);
    } else if (strcmp(line, "pot") == 0) {
        set_potentiometer(control, argument);
    } else if (strcmp(line, "button") == 0) {
        press_button(control, argument);
    } else if (strcmp(line, "skip") == 0) {
        skip(control, argument);
    } else if (strcmp(line, "wait") == 0) {
        wait_for_time(control, argument);
    } else if (strcmp(line, "reset") == 0 && bare) {
        line_reset(control->line);
        board_reset(control->board);
        answer("ok reset");
    } else if (strcmp(line, "hang") == 0 && bare) {
        answer(board_hang(control->board) ? "ok hang" : "error the firmware has no timer0_millis that could be held still");
    } else if (strcmp(line, "pwm") == 0 && bare) {
        answer("ok %d %u", board_pump_enabled(control->board), board_pump_duty(control->board));
    } else if (strcmp(line, "leds") == 0 && bare) {
        answer("ok %d %d", board_power_led(control->board), board_status_led(control->board));
    } else if (strcmp(line, "time") == 0 && bare) {
        answer("ok %.6f", (double)control->board->cycles / board_frequency);
    } else if (strcmp(line, "stats") == 0 && bare) {
        answer("ok received %llu sent %llu dropped %llu", (unsigned long long)control->line->received,
               (unsigned long long)control->line->sent, (unsigned long long)control->line->dropped);
    } else if (strcmp(line, "quit") == 0 && bare) {
        control->quit = true;
        answer("ok quit");
    } else {
        answer("error unknown command: %s", line);
    }
}

static void answer_what_is_due(struct control *control) {
    if (control->waiting == waiting_for_nothing || control->board->cycles < control->waiting_until) {
        return;
    }
    switch (control->waiting) {
    case waiting_for_nothing:
        break;
    case waiting_for_time:
        control->waiting = waiting_for_nothing;
        answer("ok wait %g", control->waiting_seconds);
        break;
    case waiting_for_release:
        board_set_button(control->board, false);
        control->waiting = waiting_for_settling;
        control->waiting_until = control->board->cycles + button_settling;
        break;
    case waiting_for_settling:
        control->waiting = waiting_for_nothing;
        answer("ok button press");
        break;
    }
}

// Takes one whole line out of `input`. False when there is none.
static bool take_line(struct control *control, char *line) {
    char *end = memchr(control->input, '\n', control->input_length);
    if (end == NULL) {
        if (control->input_length == control_line_size) {
            control->too_long = true;
            control->input_length = 0;
        }
        return false;
    }
    size_t length = (size_t)(end - control->input);
    memcpy(line, control->input, length);
    line[length] = '\0';
    if (length > 0 && line[length - 1] == '\r') {
        line[length - 1] = '\0';
    }
    control->input_length -= length + 1;
    memmove(control->input, end + 1, control->input_length);
    return true;
}

// True when something has come, the end included.
static bool read_input(struct control *control) {
    struct pollfd poll_stdin = {.fd = STDIN_FILENO, .events = POLLIN};
    if (control->ended || poll(&poll_stdin, 1, 0) <= 0) {
        return false;
    }
    ssize_t count = read(STDIN_FILENO, control->input + control->input_length, control_line_size - control->input_length);
    if (count > 0) {
        control->input_length += (size_t)count;
    } else if (count == 0 || (errno != EINTR && errno != EAGAIN)) {
        control->ended = true;
    }
    return true;
}

void control_step(struct control *control) {
    answer_what_is_due(control);
    char line[control_line_size];
    while (control->waiting == waiting_for_nothing && !control->quit) {
        if (take_line(control, line)) {
            if (control->too_long) {
                control->too_long = false;
                answer("error the line is too long");
            } else if (line[0] != '\0') {
                obey(control, line);
            }
        } else if (!read_input(control)) {
            return;
        }
    }
}
