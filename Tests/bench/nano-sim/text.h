#ifndef NANO_SIM_TEXT_H
#define NANO_SIM_TEXT_H

// Appends printf's output to `text`, which may be NULL. Returns the longer text, to be freed; `text` is not valid any
// more. Ends the program if there is no memory.
char *text_append(char *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
