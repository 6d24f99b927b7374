#include "command_line.h"

bool CommandLine::receive(char byte) {
    if (byte != '\n' && byte != '\r') {
        if (_length < limit) {
            _text[_length++] = byte;
        } else {
            _tooLong = true;
        }
        return false;
    }
    bool whole = _length > 0 && !_tooLong;
    _text[_length] = '\0';
    _length = 0;
    _tooLong = false;
    return whole;
}
