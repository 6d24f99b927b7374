#ifndef NANO_SIM_ARGUMENTS_H
#define NANO_SIM_ARGUMENTS_H

#include <stdbool.h>

// The description of a verb's argument, with the same parsing as for the verbs of `pumpctl sim`.

struct argument {
    // NULL if there is no argument.
    const char *name;
    enum { argument_number, argument_word, argument_time } kind;
    // The range of a number.
    double least, most;
    // The possible words, ended by NULL.
    const char *const *words;
};

// Reads an argument: `value` receives a number, the index of a word in `words`, or a time in seconds. A time is a
// number of seconds, or a number with ms, s, m or h, above 0 and up to 1,000,000 s. False if the text is not of this
// kind, or out of range.
bool argument_read(const struct argument *argument, const char *text, double *value);

// A description of the accepted values, to follow "takes". The caller frees it.
char *argument_description(const struct argument *argument);

#endif
