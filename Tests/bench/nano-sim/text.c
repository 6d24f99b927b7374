#define _GNU_SOURCE

#include "text.h"

#include <err.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

char *text_append(char *text, const char *format, ...) {
    size_t length = text == NULL ? 0 : strlen(text);
    char *more;
    va_list arguments;
    va_start(arguments, format);
    int count = vasprintf(&more, format, arguments);
    va_end(arguments);
    char *longer = count < 0 ? NULL : realloc(text, length + (size_t)count + 1);
    if (longer == NULL) {
        err(EX_OSERR, "cannot make a text");
    }
    memcpy(longer + length, more, (size_t)count + 1);
    free(more);
    return longer;
}
