#pragma once

#include <stddef.h>
#include <wchar.h>

// Wrappers for libedit's variadic functions, which Swift cannot call. The caller passes in the keys; libedit never
// reads the terminal itself and so never waits. Not thread-safe.

typedef struct clineeditor clineeditor;

/// Creates an editor on standard input and standard output, which must be terminals; NULL on failure. The terminal is
/// left unchanged until `clineeditor_begin`.
clineeditor *clineeditor_open(const char *program, int history_size);

/// Restores the terminal and frees the editor.
void clineeditor_close(clineeditor *editor);

/// Sets the prompt, shown from the next redraw.
void clineeditor_set_prompt(clineeditor *editor, const wchar_t *prompt);

/// Puts the terminal in raw mode and draws the prompt with an empty line.
void clineeditor_begin(clineeditor *editor);

/// Restores the terminal's mode.
void clineeditor_end(clineeditor *editor);

/// Processes one key: a character, or an escape sequence of `length` characters. Returns 1 if the key completed the
/// line, else 0.
int clineeditor_feed(clineeditor *editor, const wchar_t *key, size_t length);

/// The current line, not NUL-terminated; valid until the next call. A completed line ends with a newline. `cursor` is
/// an index into the line.
const wchar_t *clineeditor_line(clineeditor *editor, size_t *length, size_t *cursor);

/// Draws the prompt and the line, from the beginning of the cursor's row.
void clineeditor_redraw(clineeditor *editor);

/// Asks the terminal for its size.
void clineeditor_resize(clineeditor *editor);

/// Adds a line to the history.
void clineeditor_remember(clineeditor *editor, const wchar_t *line);

/// The number of columns of a character; 0 for one that can't be shown.
int clineeditor_width(wchar_t character);
