#define _GNU_SOURCE
#include "CLineEditor.h"

#include <histedit.h>
#include <stdio.h>
#include <stdlib.h>

struct clineeditor {
    EditLine *line;
    HistoryW *history;
    wchar_t *prompt;
    const wchar_t *key;
    size_t key_length;
};

static clineeditor *editor_of(EditLine *line) {
    void *editor = NULL;
    el_get(line, EL_CLIENTDATA, &editor);
    return editor;
}

static wchar_t *prompt_of(EditLine *line) {
    static wchar_t none[] = L"";
    clineeditor *editor = editor_of(line);
    return editor->prompt ? editor->prompt : none;
}

// Gives libedit the next character of the key that `clineeditor_feed` passes in. Returns 0, the end of input, if libedit
// wants more than the key has, as after Esc alone: libedit then leaves the line as it is. Commands that read further keys
// themselves are not bound.
static int next_character(EditLine *line, wchar_t *character) {
    clineeditor *editor = editor_of(line);
    if (editor->key_length == 0) return 0;
    *character = *editor->key++;
    editor->key_length--;
    return 1;
}

static void bind_keys(EditLine *line) {
    static const char *const keys[][2] = {
        {"\033[3~", "ed-delete-next-char"}, {"\033[1;5C", "em-next-word"}, {"\033[1;5D", "ed-prev-word"},
        {"\033[H", "ed-move-to-beg"},       {"\033[F", "ed-move-to-end"},  {"\033OH", "ed-move-to-beg"},
        {"\033OF", "ed-move-to-end"},       {"\033[1~", "ed-move-to-beg"}, {"\033[4~", "ed-move-to-end"},
        // The incremental search reads further keys itself, so Ctrl-R and Ctrl-S search for lines with the same
        // beginning instead.
        {"\022", "ed-search-prev-history"}, {"\023", "ed-search-next-history"},
        // Further commands that read keys themselves.
        {"\026", "ed-unassigned"},          {"\021", "ed-unassigned"},     {"\033x", "ed-unassigned"},
        {"\033X", "ed-unassigned"},         {"\030", "ed-unassigned"},
    };
    for (size_t index = 0; index < sizeof keys / sizeof *keys; index++)
        el_set(line, EL_BIND, keys[index][0], keys[index][1], NULL);
}

clineeditor *clineeditor_open(const char *program, int history_size) {
    clineeditor *editor = calloc(1, sizeof *editor);
    if (!editor) return NULL;
    editor->line = el_init(program, stdin, stdout, stderr);
    editor->history = history_winit();
    if (!editor->line || !editor->history) {
        clineeditor_close(editor);
        return NULL;
    }
    HistEventW event;
    history_w(editor->history, &event, H_SETSIZE, history_size);
    history_w(editor->history, &event, H_SETUNIQUE, 1);
    el_set(editor->line, EL_CLIENTDATA, editor);
    el_wset(editor->line, EL_PROMPT, prompt_of);
    el_wset(editor->line, EL_HIST, history_w, editor->history);
    el_set(editor->line, EL_EDITOR, "emacs");
    el_set(editor->line, EL_SIGNAL, 0);
    // Deliver Ctrl-C and Ctrl-Z as keys.
    el_set(editor->line, EL_SETTY, "-d", "-isig", NULL);
    el_set(editor->line, EL_GETCFN, next_character);
    bind_keys(editor->line);
    return editor;
}

void clineeditor_close(clineeditor *editor) {
    if (!editor) return;
    if (editor->line) el_end(editor->line);
    if (editor->history) history_wend(editor->history);
    free(editor->prompt);
    free(editor);
}

void clineeditor_set_prompt(clineeditor *editor, const wchar_t *prompt) {
    free(editor->prompt);
    editor->prompt = wcsdup(prompt);
}

void clineeditor_begin(clineeditor *editor) { el_set(editor->line, EL_UNBUFFERED, 1); }

void clineeditor_end(clineeditor *editor) { el_set(editor->line, EL_UNBUFFERED, 0); }

int clineeditor_feed(clineeditor *editor, const wchar_t *key, size_t length) {
    int count = 0;
    editor->key = key;
    editor->key_length = length;
    const wchar_t *line = el_wgets(editor->line, &count);
    editor->key_length = 0;
    return line && count > 0 && line[count - 1] == L'\n';
}

const wchar_t *clineeditor_line(clineeditor *editor, size_t *length, size_t *cursor) {
    const LineInfoW *line = el_wline(editor->line);
    *length = line->lastchar - line->buffer;
    *cursor = line->cursor - line->buffer;
    return line->buffer;
}

void clineeditor_redraw(clineeditor *editor) { el_set(editor->line, EL_REFRESH); }

void clineeditor_resize(clineeditor *editor) { el_resize(editor->line); }

void clineeditor_remember(clineeditor *editor, const wchar_t *line) {
    HistEventW event;
    history_w(editor->history, &event, H_ENTER, line);
}

int clineeditor_width(wchar_t character) {
    int width = wcwidth(character);
    return width < 0 ? 0 : width;
}
