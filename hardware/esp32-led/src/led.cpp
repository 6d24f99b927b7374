#include "led.h"

#include <string.h>

void Led::receive(char byte) {
    if (!_commandLine.receive(byte)) {
        return;
    }
    const char *command = _commandLine.text();
    if (strcmp(command, "LED:1") == 0) {
        set(true);
    } else if (strcmp(command, "LED:0") == 0) {
        set(false);
    } else if (strcmp(command, "LED") != 0) {
        return;
    }
    tell();
}

void Led::write(uint8_t value) {
    set(value != 0);
}

void Led::set(bool isOn) {
    _isOn = isOn;
    _lamp.light(isOn);
}

void Led::tell() {
    _output.line(_isOn ? "LED:1" : "LED:0");
}
