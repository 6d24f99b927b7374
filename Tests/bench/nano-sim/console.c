#include "console.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void answer(const char *word, const char *text) {
    printf("%s %s\n", word, text);
    fflush(stdout);
}

// Splits a line into words. Returns their number, even if `words` has no room for all.
static size_t split(char *line, const char *words[], size_t limit) {
    size_t count = 0;
    char *rest = line;
    for (char *word; (word = strsep(&rest, " ")) != NULL; count++) {
        if (count < limit) {
            words[count] = word;
        }
    }
    return count;
}

static void obey(struct console *console, const char *line) {
    struct hands *hands = console->hands;
    char copy[console_line_size];
    strcpy(copy, line);
    const char *words[1 + verb_argument_limit];
    size_t count = split(copy, words, 1 + verb_argument_limit);

    const struct verb *verb = verb_named(words[0]);
    if (verb == NULL) {
        verb = emulator_verb_named(words[0]);
    }
    if (verb == NULL) {
        printf("error the device has no verb '%s'\n", words[0]);
        fflush(stdout);
        return;
    }
    char *text = NULL;
    if (!hands_perform(hands, verb, words + 1, count - 1, &text)) {
        answer("error", text);
    } else if (hands_are_busy(hands)) {
        console->is_waiting = true;
        console->awaited = hands->begun;
        strcpy(console->waiting_line, line);
    } else {
        answer("ok", text != NULL ? text : line);
    }
    free(text);
}

// Moves the first complete line of the input to `line`, without its end. False if there is none.
static bool take_line(struct console *console, char *line) {
    char *end = memchr(console->input, '\n', console->input_length);
    if (end == NULL) {
        if (console->input_length == console_line_size) {
            console->too_long = true;
            console->input_length = 0;
        }
        return false;
    }
    size_t length = (size_t)(end - console->input);
    memcpy(line, console->input, length);
    line[length] = '\0';
    if (length > 0 && line[length - 1] == '\r') {
        line[length - 1] = '\0';
    }
    console->input_length -= length + 1;
    memmove(console->input, end + 1, console->input_length);
    return true;
}

// Reads from stdin. False if nothing has come, not even the end.
static bool read_input(struct console *console) {
    struct pollfd poll_stdin = {.fd = STDIN_FILENO, .events = POLLIN};
    if (console->ended || poll(&poll_stdin, 1, 0) <= 0) {
        return false;
    }
    ssize_t count = read(STDIN_FILENO, console->input + console->input_length, console_line_size - console->input_length);
    if (count > 0) {
        console->input_length += (size_t)count;
    } else if (count == 0 || (errno != EINTR && errno != EAGAIN)) {
        console->ended = true;
    }
    return true;
}

void console_step(struct console *console) {
    const struct hands *hands = console->hands;
    if (console->is_waiting && hands->ended >= console->awaited) {
        console->is_waiting = false;
        answer("ok", console->waiting_line);
    }
    char line[console_line_size];
    while (!hands_are_busy(hands) && !hands->stop) {
        if (take_line(console, line)) {
            if (console->too_long) {
                console->too_long = false;
                answer("error", "the line is too long");
            } else if (line[0] != '\0') {
                obey(console, line);
            }
        } else if (!read_input(console)) {
            return;
        }
    }
}

bool console_is_done(const struct console *console) {
    return console->ended && !console->is_waiting;
}

struct pollfd console_source(const struct console *console) {
    return (struct pollfd){.fd = console->ended ? -1 : STDIN_FILENO, .events = POLLIN};
}
