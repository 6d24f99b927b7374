#include "stepped.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

enum { line_size = 1024, answer_bytes = 4096 };

static const uint64_t cycles_per_microsecond = board_frequency / 1000000;
// The precision of the time at which a line begins.
static const uint64_t slice = board_frequency / 10000;

struct stepper {
    struct hands *hands;
    // The cycles for which the requests `run` have run the board.
    uint64_t cycles;
    // Whether the firmware is in the middle of a line.
    bool is_in_line;
    bool has_crashed;
};

// Continues the verb in progress, and runs the board for this time. False if the firmware has crashed or sleeps for
// good.
static bool step(struct stepper *stepper, uint64_t cycles) {
    hands_step(stepper->hands);
    stepper->has_crashed = stepper->has_crashed || !board_run(stepper->hands->board, cycles);
    return !stepper->has_crashed;
}

// Whether a line has begun or ended since bytes were last taken.
static bool has_news(const struct stepper *stepper) {
    const struct serial_line *line = stepper->hands->line;
    if (line->outgoing_count > 0 && !stepper->is_in_line) {
        return true;
    }
    for (size_t i = 0; i < line->outgoing_count; i++) {
        if (line->outgoing[(line->outgoing_begin + i) % line_outgoing_size] == '\n') {
            return true;
        }
    }
    return false;
}

// Prints the reply to `run`, with the bytes that the firmware has sent.
static void answer_run(struct stepper *stepper) {
    uint8_t bytes[answer_bytes];
    size_t count = line_take(stepper->hands->line, bytes, sizeof bytes);
    printf("ok %" PRIu64 " %d ", stepper->cycles / cycles_per_microsecond, hands_are_busy(stepper->hands));
    for (size_t i = 0; i < count; i++) {
        printf("%02x", bytes[i]);
    }
    printf("%s\n", count == 0 ? "-" : "");
    if (count > 0) {
        stepper->is_in_line = bytes[count - 1] != '\n';
    }
}

// Carries out `run`: runs the board for these microseconds, or until there is news.
static void run_for(struct stepper *stepper, const char *text) {
    char *end;
    uint64_t microseconds = strtoull(text, &end, 10);
    if (end == text || *end != '\0') {
        printf("error run takes microseconds\n");
        return;
    }
    uint64_t limit = stepper->cycles + microseconds * cycles_per_microsecond;
    while (stepper->cycles < limit && !has_news(stepper)) {
        uint64_t begin = stepper->hands->board->cycles;
        uint64_t rest = limit - stepper->cycles;
        if (!step(stepper, rest < slice ? rest : slice)) {
            break;
        }
        stepper->cycles += stepper->hands->board->cycles - begin;
    }
    answer_run(stepper);
}

static void send(struct stepper *stepper, const char *text) {
    uint8_t bytes[line_incoming_size];
    size_t count = 0;
    for (; text[0] != '\0' && text[1] != '\0' && count < sizeof bytes; text += 2) {
        unsigned byte;
        if (sscanf(text, "%2x", &byte) != 1) {
            break;
        }
        bytes[count++] = (uint8_t)byte;
    }
    if (text[0] != '\0' || !line_give(stepper->hands->line, bytes, count)) {
        printf("error not sent: not hexadecimal bytes, or too many at once\n");
    } else {
        printf("ok\n");
    }
}

// Completes an advance, which moves the firmware's clocks, but not the time that the host controls by `run`.
static void finish_advance(struct stepper *stepper) {
    while (hands_hurry(stepper->hands)) {
        uint64_t rest = stepper->hands->until - stepper->hands->board->cycles;
        if (stepper->hands->until > stepper->hands->board->cycles && !step(stepper, rest < slice ? rest : slice)) {
            return;
        }
        hands_step(stepper->hands);
    }
}

// Carries out a verb, and prints its reply. An advance is complete by then; other verbs that take time may still go on.
static void perform(struct stepper *stepper, char *words) {
    const char *name = strsep(&words, " ");
    const struct verb *verb = verb_named(name);
    if (verb == NULL) {
        verb = emulator_verb_named(name);
    }
    if (verb == NULL) {
        printf("error the device has no verb '%s'\n", name);
        return;
    }
    if (hands_are_busy(stepper->hands)) {
        printf("error another verb is under way\n");
        return;
    }
    const char *arguments[verb_argument_limit];
    size_t count = 0;
    for (char *word; (word = strsep(&words, " ")) != NULL; count++) {
        if (count < verb_argument_limit) {
            arguments[count] = word;
        }
    }
    char *text = NULL;
    bool is_done = hands_perform(stepper->hands, verb, arguments, count, &text);
    finish_advance(stepper);
    printf("%s %s\n", is_done ? "ok" : "error", text != NULL ? text : name);
    free(text);
}

int run_stepped(struct hands *hands) {
    struct stepper stepper = {.hands = hands};
    char line[line_size];
    while (!hands->stop && fgets(line, sizeof line, stdin) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        char *words = line;
        if (strncmp(line, "run ", 4) == 0) {
            run_for(&stepper, line + 4);
        } else if (strncmp(line, "send ", 5) == 0) {
            send(&stepper, line + 5);
        } else {
            perform(&stepper, words);
        }
        fflush(stdout);
        if (stepper.has_crashed) {
            fprintf(stderr, "nano-sim: the firmware has crashed or stopped for good\n");
            return EX_SOFTWARE;
        }
    }
    return EX_OK;
}
