#include "arguments.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

static const double longest_time = 1000000;

// Reads a number. `end` points to the text after it, or to `text` if there is none.
static double read_number(const char *text, const char **end) {
    *end = text;
    // strtod would skip white space.
    if (isspace((unsigned char)*text)) {
        return 0;
    }
    char *rest;
    double number = strtod(text, &rest);
    *end = rest;
    return number;
}

static bool read_word(const struct argument *argument, const char *text, double *value) {
    for (int place = 0; argument->words[place] != NULL; place++) {
        if (strcmp(text, argument->words[place]) == 0) {
            *value = place;
            return true;
        }
    }
    return false;
}

static bool read_time(const char *text, double *seconds) {
    static const struct {
        const char *name;
        double seconds;
    } units[] = {{"", 1}, {"ms", 0.001}, {"s", 1}, {"m", 60}, {"h", 3600}};
    const char *unit;
    double number = read_number(text, &unit);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (unit != text && strcmp(unit, units[i].name) == 0) {
            *seconds = number * units[i].seconds;
            return *seconds > 0 && *seconds <= longest_time;
        }
    }
    return false;
}

bool argument_read(const struct argument *argument, const char *text, double *value) {
    switch (argument->kind) {
    case argument_word:
        return read_word(argument, text, value);
    case argument_time:
        return read_time(text, value);
    case argument_number:
        break;
    }
    const char *end;
    *value = read_number(text, &end);
    return end != text && *end == '\0' && *value >= argument->least && *value <= argument->most;
}

char *argument_description(const struct argument *argument) {
    switch (argument->kind) {
    case argument_word: {
        char *list = text_append(NULL, "one of:");
        for (const char *const *word = argument->words; *word != NULL; word++) {
            list = text_append(list, " %s%s", *word, word[1] != NULL ? "," : "");
        }
        return list;
    }
    case argument_time:
        return text_append(NULL, "a time above 0, up to %.15g s, as 500ms or 2s", longest_time);
    case argument_number:
        break;
    }
    return text_append(NULL, "a number from %.15g to %.15g", argument->least, argument->most);
}
