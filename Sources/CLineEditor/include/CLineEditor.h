#pragma once

#include <stddef.h>
#include <wchar.h>

// What Swift cannot call of libedit: its variadic functions. It is fed keys instead of reading the terminal itself, so
// that it never waits. Not thread-safe.

typedef struct clineeditor clineeditor;

/// An editor on standard input and standard output, which must be terminals; NULL where libedit cannot be had. The
/// terminal is left as it is until `clineeditor_begin`.
clineeditor *clineeditor_open(const char *program, int history_size);

/// Restores the terminal and frees the editor.
void clineeditor_close(clineeditor *editor);

/// Sets the prompt, which is shown from the next drawing on.
void clineeditor_set_prompt(clineeditor *editor, const wchar_t *prompt);

/// Puts the terminal in raw mode and draws the prompt with an empty line.
void clineeditor_begin(clineeditor *editor);

/// Puts the terminal back as it was.
void clineeditor_end(clineeditor *editor);

/// Carries out one key: a character, or an escape sequence. Returns 1 when it has ended the line, else 0.
int clineeditor_feed(clineeditor *editor, const wchar_t *key, size_t length);

/// The line as it stands, not terminated; valid until the next call. A line that was ended ends with a newline.
const wchar_t *clineeditor_line(clineeditor *editor, size_t *length, size_t *cursor);

/// Draws the prompt and the line, from the beginning of the terminal line that the cursor is on.
void clineeditor_redraw(clineeditor *editor);

/// Asks the terminal for its size.
void clineeditor_resize(clineeditor *editor);

/// Adds a line to the history.
void clineeditor_remember(clineeditor *editor, const wchar_t *line);

/// How many columns a character takes; 0 for one that can't be shown.
int clineeditor_width(wchar_t character);
