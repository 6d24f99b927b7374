#ifndef NANO_SIM_VERBS_H
#define NANO_SIM_VERBS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arguments.h"
#include "board.h"
#include "serial_line.h"

// What is done to a board, as rows: the verbs that `pumpctl sim ctl` has for any pump, and those that only an emulator has.

enum { verb_argument_limit = 2 };

// The hands that do it. They do one thing at a time, whoever asks for it.
struct hands {
    struct board *board;
    struct serial_line *line;
    // The end of the program was asked for.
    bool stop;

    // What takes simulated time, and when it goes on or ends.
    enum { hands_free, hands_wait, hands_hold_button, hands_let_settle, hands_advance } doing;
    uint64_t until;
    // What of an advance is still to come, in cycles.
    uint64_t rest;
    // How many things that take simulated time have begun, and how many have ended.
    uint64_t begun, ended;
};

struct verb {
    const char *name;
    struct argument arguments[verb_argument_limit];
    // Does it, or begins what takes time; in `text`, to be freed, is what there is to say of it. False where it can't be
    // done; then `text` says why.
    bool (*perform)(struct hands *hands, const double *values, char **text);
    // Whether it changes only what is wired to the board, at once.
    bool is_input;
};

// What a probe's temperature may be, in Celsius.
extern const struct argument celsius_argument;

// A verb that any pump has, and one that only an emulator has; NULL if there is none of that name.
const struct verb *verb_named(const char *name);
const struct verb *emulator_verb_named(const char *name);

// The names of what any pump has, with commas between them, to be freed.
char *verb_names(void);

// Reads what a verb takes. False if the verb takes something else; then `refusal`, to be freed, says what.
bool verb_read(const struct verb *verb, const char *const *arguments, size_t count, double *values, char **refusal);

// Reads what a verb takes, and does it or begins it. False where nothing was done; then `text` says why.
bool hands_perform(struct hands *hands, const struct verb *verb, const char *const *arguments, size_t count, char **text);

// Goes on with what takes time.
void hands_step(struct hands *hands);

// Whether something takes time.
bool hands_are_busy(const struct hands *hands);

// Whether simulated time is to pass as fast as it can.
bool hands_hurry(const struct hands *hands);

// What can be seen of the board, by the keys of `pumpctl sim`. A new reference.
json_t *hands_see(const struct hands *hands);

#endif
