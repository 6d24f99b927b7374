#pragma once

#include <stdint.h>

#include "command_line.h"

/// The lamp.
class Lamp {
public:
    virtual void light(bool isOn) = 0;

protected:
    ~Lamp() = default;
};

/// Where lines go. The implementation adds the line end.
class LineOutput {
public:
    virtual void line(const char *text) = 0;

protected:
    ~LineOutput() = default;
};

/// The firmware apart from the board: one boolean, by a line and by a byte.
class Led {
public:
    Led(Lamp &lamp, LineOutput &output) : _lamp(lamp), _output(output) {}

    /// Takes one byte of the serial line: `LED:1` and `LED:0` set, `LED` asks, and each is answered.
    void receive(char byte);
    /// Takes the byte that was written to the characteristic: 0 is off, anything else on.
    void write(uint8_t value);
    /// What the characteristic holds.
    uint8_t value() const { return _isOn ? 1 : 0; }

private:
    void set(bool isOn);
    void tell();

    Lamp &_lamp;
    LineOutput &_output;
    CommandLine _commandLine;
    bool _isOn = false;
};
