// Reads TOML text as a list of values, with toml++. Debian: libtomlplusplus-dev.
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

/// UTF-8 text, not NUL-terminated, which may contain NUL.
typedef struct {
    const char *bytes;
    size_t length;
} ctoml_text;

typedef struct {
    ctoml_kind kind;
    /// The number of tables and arrays that contain the value.
    size_t depth;
    /// The key; empty for an element of an array, and for the table of the whole text.
    ctoml_text key;
    /// The line of the key, or of the value's beginning if there is no key; from 1.
    uint32_t line;
    /// The contents of a string.
    ctoml_text string;
    /// The value of an integer; 1 for true, 0 for false.
    int64_t integer;
    double number;
} ctoml_value;

/// Receives a value, whose texts are valid only during the call. A table or an array comes before its elements.
typedef void ctoml_visit(void *context, const ctoml_value *value);
/// Receives a syntax error, and its line.
typedef void ctoml_refuse(void *context, ctoml_text problem, uint32_t line);

/// Parses a text, and reports either all its values or a syntax error.
///
/// `context` is passed on to `visit` and `refuse`. Each part of a key takes stack space, so the caller must refuse keys
/// with thousands of parts. The program ends if memory runs out.
void ctoml_read(ctoml_text text, void *context, ctoml_visit *visit, ctoml_refuse *refuse);

#ifdef __cplusplus
}
#endif
