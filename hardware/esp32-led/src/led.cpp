#include "led.h"

#include <string.h>

void Led::receive(char byte) {
    if (!_commandLine.receive(byte)) {
        return;
    }
    const char *command = _commandLine.text();
    if (strcmp(command, "LED:1") == 0 || strcmp(command, "LED:0") == 0) {
        bool isOn = command[4] == '1';
        bool changes = isOn != _isOn;
        set(isOn);
        if (changes) {
            _value.set(this->byte());
            _value.notify();
        }
    } else if (strcmp(command, "LED") != 0) {
        return;
    }
    tell();
}

void Led::written() {
    bool wasOn = _isOn;
    uint8_t written;
    bool isByte = _value.read(&written, 1) == 1;
    if (isByte) {
        set(written != 0);
    }
    // A 0 or 1 stays as the central wrote it: setting the value again would overwrite the central's next write, which
    // may already have arrived.
    if (!isByte || written > 1) {
        _value.set(byte());
    }
    if (_isOn != wasOn) {
        _value.notify();
    }
}

void Led::set(bool isOn) {
    _isOn = isOn;
    _lamp.light(isOn);
}

void Led::tell() {
    _output.line(_isOn ? "LED:1" : "LED:0");
}
