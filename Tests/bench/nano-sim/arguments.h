#ifndef NANO_SIM_ARGUMENTS_H
#define NANO_SIM_ARGUMENTS_H

#include <stdbool.h>

// What a verb takes, as data, and how it is read: as the verbs of `pumpctl sim` are.

struct argument {
    // Of what there is no argument has no name.
    const char *name;
    enum { argument_number, argument_word, argument_time } kind;
    // Of a number.
    double least, most;
    // Of a word: those it may be, ended by NULL.
    const char *const *words;
};

// Reads a text: a number as it is, a word as its place among the words, a time in seconds. A time is above 0, up to
// 1,000,000 s: seconds, or a number with ms, s, m or h. False if the text is none of that.
bool argument_read(const struct argument *argument, const char *text, double *value);

// What is taken, in words that follow "takes", to be freed.
char *argument_description(const struct argument *argument);

#endif
