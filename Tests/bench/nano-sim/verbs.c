#include "verbs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

static const uint64_t cycles_per_millisecond = board_frequency / 1000;
// The time for which a press holds the button down: longer than any debouncing, and than two turns of a main loop.
static const uint64_t button_hold = cycles_per_millisecond * 300;
// The time from the button's release until the press is done.
static const uint64_t button_settling = cycles_per_millisecond * 100;
// An advance makes the firmware's clocks jump, and after each jump gives the firmware time for one turn of its main
// loop, and for a report every 5 s to leave. The last second is run in full, so that the firmware acts in its usual
// time.
static const uint64_t advance_jump = cycles_per_millisecond * board_jump_milliseconds;
static const uint64_t advance_run = cycles_per_millisecond * 4;
static const uint64_t advance_end = cycles_per_millisecond * 1000;

const struct argument celsius_argument = {.name = "celsius", .kind = argument_number, .least = -55, .most = 150};

static const char *const probes[] = {"water", "skin", NULL};
static const char *const conditions[] = {"sound", "open", "shorted", NULL};

static void begin(struct hands *hands, int doing, uint64_t cycles) {
    hands->doing = doing;
    hands->until = hands->board->cycles + cycles;
    hands->begun++;
}

// Verbs of any pump.

static bool press(struct hands *hands, const double *values, char **text) {
    (void)values, (void)text;
    board_set_button(hands->board, true);
    begin(hands, hands_hold_button, button_hold);
    return true;
}

static bool turn(struct hands *hands, const double *values, char **text) {
    (void)text;
    board_set_knob(hands->board, (uint16_t)lround(values[0] * 1023));
    return true;
}

static bool set_temperature(struct hands *hands, const double *values, char **text) {
    (void)text;
    board_set_temperature(hands->board, (enum board_probe)values[0], values[1]);
    return true;
}

static bool set_condition(struct hands *hands, const double *values, char **text) {
    (void)text;
    board_set_condition(hands->board, (enum board_probe)values[0], (enum board_condition)values[1]);
    return true;
}

static bool advance(struct hands *hands, const double *values, char **text) {
    (void)text;
    hands->rest = (uint64_t)(values[0] * board_frequency);
    begin(hands, hands_advance, 0);
    return true;
}

static bool reset(struct hands *hands, const double *values, char **text) {
    (void)values, (void)text;
    line_reset(hands->line);
    board_reset(hands->board);
    return true;
}

static bool tell_state(struct hands *hands, const double *values, char **text) {
    (void)values;
    json_t *state = hands_see(hands);
    *text = json_dumps(state, JSON_COMPACT | JSON_SORT_KEYS);
    json_decref(state);
    return true;
}

static bool stop(struct hands *hands, const double *values, char **text) {
    (void)values, (void)text;
    hands->stop = true;
    return true;
}

static const struct verb verbs[] = {
    {"advance", {{.name = "time", .kind = argument_time}}, advance, false},
    {"press", {{0}}, press, false},
    {"probe",
     {{.name = "probe", .kind = argument_word, .words = probes},
      {.name = "condition", .kind = argument_word, .words = conditions}},
     set_condition, true},
    {"reset", {{0}}, reset, false},
    {"state", {{0}}, tell_state, false},
    {"stop", {{0}}, stop, false},
    {"temperature", {{.name = "probe", .kind = argument_word, .words = probes}, celsius_argument}, set_temperature, true},
    {"turn", {{.name = "position", .kind = argument_number, .least = 0, .most = 1}}, turn, true},
    {0},
};

// Verbs of an emulator.

static bool skip(struct hands *hands, const double *values, char **text) {
    if (!board_skip(hands->board, (uint32_t)(values[0] * 1000))) {
        *text = text_append(NULL, "the firmware has no timer0_millis that could be moved");
        return false;
    }
    return true;
}

static bool hang(struct hands *hands, const double *values, char **text) {
    (void)values;
    if (!board_hang(hands->board)) {
        *text = text_append(NULL, "the firmware has no timer0_millis that could be held still");
        return false;
    }
    return true;
}

static bool let_time_pass(struct hands *hands, const double *values, char **text) {
    (void)text;
    begin(hands, hands_wait, (uint64_t)(values[0] * board_frequency));
    return true;
}

static bool tell_pwm(struct hands *hands, const double *values, char **text) {
    (void)values;
    *text = text_append(NULL, "%d %u", board_pump_enabled(hands->board), board_pump_duty(hands->board));
    return true;
}

static bool tell_leds(struct hands *hands, const double *values, char **text) {
    (void)values;
    *text = text_append(NULL, "%d %d", board_power_led(hands->board), board_status_led(hands->board));
    return true;
}

static bool tell_time(struct hands *hands, const double *values, char **text) {
    (void)values;
    *text = text_append(NULL, "%.6f", (double)hands->board->cycles / board_frequency);
    return true;
}

static bool tell_stats(struct hands *hands, const double *values, char **text) {
    (void)values;
    const struct serial_line *line = hands->line;
    *text = text_append(NULL, "received %llu sent %llu dropped %llu", (unsigned long long)line->received,
                        (unsigned long long)line->sent, (unsigned long long)line->dropped);
    return true;
}

static const struct verb emulator_verbs[] = {
    {"skip", {{.name = "seconds", .kind = argument_number, .most = 4294967}}, skip, false},
    {"hang", {{0}}, hang, false},
    {"wait", {{.name = "seconds", .kind = argument_number, .most = 86400}}, let_time_pass, false},
    {"pwm", {{0}}, tell_pwm, false},
    {"leds", {{0}}, tell_leds, false},
    {"time", {{0}}, tell_time, false},
    {"stats", {{0}}, tell_stats, false},
    {"quit", {{0}}, stop, false},
    {0},
};

// Reading.

static const struct verb *find(const struct verb *rows, const char *name) {
    for (; rows->name != NULL; rows++) {
        if (strcmp(rows->name, name) == 0) {
            return rows;
        }
    }
    return NULL;
}

const struct verb *verb_named(const char *name) {
    return find(verbs, name);
}

const struct verb *emulator_verb_named(const char *name) {
    return find(emulator_verbs, name);
}

char *verb_names(void) {
    char *names = NULL;
    for (const struct verb *row = verbs; row->name != NULL; row++) {
        names = text_append(names, "%s%s", row == verbs ? "" : ", ", row->name);
    }
    return names;
}

static size_t argument_count(const struct verb *verb) {
    size_t count = 0;
    while (count < verb_argument_limit && verb->arguments[count].name != NULL) {
        count++;
    }
    return count;
}

static char *refuse_count(const struct verb *verb) {
    char *refusal = text_append(NULL, "'%s' takes", verb->name);
    size_t count = argument_count(verb);
    for (size_t i = 0; i < count; i++) {
        refusal = text_append(refusal, " %s", verb->arguments[i].name);
    }
    return count > 0 ? refusal : text_append(refusal, " no argument");
}

bool verb_read(const struct verb *verb, const char *const *arguments, size_t count, double *values, char **refusal) {
    if (count != argument_count(verb)) {
        *refusal = refuse_count(verb);
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        const struct argument *argument = &verb->arguments[i];
        if (!argument_read(argument, arguments[i], &values[i])) {
            char *description = argument_description(argument);
            *refusal = text_append(NULL, "%s takes %s", argument->name, description);
            free(description);
            return false;
        }
    }
    return true;
}

// Performing.

bool hands_perform(struct hands *hands, const struct verb *verb, const char *const *arguments, size_t count, char **text) {
    double values[verb_argument_limit];
    return verb_read(verb, arguments, count, values, text) && verb->perform(hands, values, text);
}

static void end(struct hands *hands) {
    hands->doing = hands_free;
    hands->ended = hands->begun;
}

static void go_on_advancing(struct hands *hands) {
    if (hands->rest == 0) {
        end(hands);
        return;
    }
    uint64_t run = hands->rest;
    if (hands->rest >= advance_end + advance_jump + advance_run && board_jump(hands->board)) {
        hands->rest -= advance_jump;
        run = advance_run;
    }
    hands->rest -= run;
    hands->until = hands->board->cycles + run;
}

void hands_step(struct hands *hands) {
    if (hands->doing == hands_free || hands->board->cycles < hands->until) {
        return;
    }
    switch (hands->doing) {
    case hands_free:
        break;
    case hands_hold_button:
        board_set_button(hands->board, false);
        hands->doing = hands_let_settle;
        hands->until = hands->board->cycles + button_settling;
        break;
    case hands_advance:
        go_on_advancing(hands);
        break;
    case hands_wait:
    case hands_let_settle:
        end(hands);
        break;
    }
}

bool hands_are_busy(const struct hands *hands) {
    return hands->doing != hands_free;
}

bool hands_hurry(const struct hands *hands) {
    return hands->doing == hands_advance;
}

json_t *hands_see(const struct hands *hands) {
    const struct board *board = hands->board;
    return json_pack("{s:i, s:f, s:f, s:f, s:b, s:b}", "duty", board_pump_duty(board), "knob", board->knob / 1023.0,
                     "water_temp_c", board->probes[probe_water].celsius, "skin_temp_c", board->probes[probe_skin].celsius,
                     "power_led", board_power_led(board), "status_led", board_status_led(board));
}
