// A text of TOML as a list of its values, read by toml++. Debian: libtomlplusplus-dev.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    CTOML_TABLE,
    CTOML_ARRAY,
    CTOML_STRING,
    CTOML_INTEGER,
    CTOML_FLOAT,
    CTOML_BOOLEAN,
    CTOML_DATE,
    CTOML_TIME,
    CTOML_DATE_TIME,
} ctoml_kind;

/// Bytes of UTF-8, which may have NUL among them.
typedef struct {
    const char *bytes;
    size_t length;
} ctoml_text;

typedef struct {
    ctoml_kind kind;
    /// The number of tables and arrays that it is within.
    size_t depth;
    /// Its key; empty for an element of an array, and for the table of the whole text.
    ctoml_text key;
    /// The line of its key, or of its own beginning if it has none; from 1.
    uint32_t line;
    /// What a string says.
    ctoml_text string;
    /// An integer; 1 for true.
    int64_t integer;
    double number;
} ctoml_value;

/// Takes a value, whose texts end with the call. A table or an array comes before what it has.
typedef void ctoml_visit(void *context, const ctoml_value *value);
/// Takes what is wrong with a text, and the line.
typedef void ctoml_refuse(void *context, ctoml_text problem, uint32_t line);

/// Reads a text, and tells all values of it, or else what is wrong with it.
///
/// It takes stack for each part of a key, so that a text with a key of thousands of parts can't be read. It ends the program
/// where no memory is left.
void ctoml_read(ctoml_text text, void *context, ctoml_visit *visit, ctoml_refuse *refuse);

#ifdef __cplusplus
}
#endif
