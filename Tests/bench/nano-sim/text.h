#ifndef NANO_SIM_TEXT_H
#define NANO_SIM_TEXT_H

// Appends to a text what printf would print. Returns the longer text, to be freed, in place of `text`, which may be NULL.
// Without memory the program ends.
char *text_append(char *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
