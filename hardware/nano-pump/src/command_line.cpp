#include "command_line.h"

bool CommandLine::receive(char byte) {
    if (_pending != Pending::nothing) {
        return false;
    }
    if (byte == '\n' || byte == '\r') {
        if (_length > 0) {
            _text[_length] = '\0';
            _pending = Pending::command;
        }
    } else if (_length == limit) {
        // The byte that does not fit is dropped with the rest. The bytes after it begin a new command.
        _length = 0;
        _pending = Pending::overflow;
    } else {
        _text[_length++] = byte;
    }
    return true;
}

void CommandLine::clear() {
    _length = 0;
    _pending = Pending::nothing;
}
