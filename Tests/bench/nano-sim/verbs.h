#ifndef NANO_SIM_VERBS_H
#define NANO_SIM_VERBS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arguments.h"
#include "board.h"
#include "serial_line.h"

// The actions on a board: the verbs that `pumpctl sim ctl` has for any pump, and more verbs that only an emulator has.

enum { verb_argument_limit = 2 };

// The state of performing verbs, of which only one is in progress at a time, for stdin and all clients together.
struct hands {
    struct board *board;
    struct serial_line *line;
    // Whether the end of the program was requested.
    bool stop;

    // The verb in progress, if one takes simulated time, and the board's time at which it continues or ends.
    enum { hands_free, hands_wait, hands_hold_button, hands_let_settle, hands_advance } doing;
    uint64_t until;
    // The rest of an advance, in cycles.
    uint64_t rest;
    // The numbers of begun and of ended verbs that take simulated time.
    uint64_t begun, ended;
};

struct verb {
    const char *name;
    struct argument arguments[verb_argument_limit];
    // Performs the verb, or begins one that takes time; `text`, to be freed, receives the result. False if it can't be
    // done, with the reason in `text`.
    bool (*perform)(struct hands *hands, const double *values, char **text);
    // Whether the verb only changes an input of the board, immediately.
    bool is_input;
};

// The range of a probe's temperature, in Celsius.
extern const struct argument celsius_argument;

// Finds a verb of any pump, or of an emulator only; NULL if there is none with this name.
const struct verb *verb_named(const char *name);
const struct verb *emulator_verb_named(const char *name);

// The names of any pump's verbs, separated by commas, to be freed.
char *verb_names(void);

// Parses a verb's arguments. False if the verb takes other ones, which `refusal`, to be freed, names.
bool verb_read(const struct verb *verb, const char *const *arguments, size_t count, double *values, char **refusal);

// Parses a verb's arguments, and performs or begins it. False if nothing was done, with the reason in `text`.
bool hands_perform(struct hands *hands, const struct verb *verb, const char *const *arguments, size_t count, char **text);

// Continues or ends the verb in progress, if it is time for that.
void hands_step(struct hands *hands);

// Whether a verb is in progress.
bool hands_are_busy(const struct hands *hands);

// Whether simulated time must pass as fast as possible: during an advance.
bool hands_hurry(const struct hands *hands);

// The board's observable state, with the keys of `pumpctl sim`. The caller releases it.
json_t *hands_see(const struct hands *hands);

#endif
