#pragma once

#include <stddef.h>
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

/// The BLE characteristic: what a central writes and what a central reads are one value, in the radio's keeping.
class Value {
public:
    /// Copies the value, up to `size` bytes of it; returns its whole length.
    virtual size_t read(uint8_t *bytes, size_t size) = 0;
    virtual void set(uint8_t byte) = 0;
    /// Sends the value to a central that asked for changes.
    virtual void notify() = 0;

protected:
    ~Value() = default;
};

/// The firmware apart from the board: one boolean, by a line and by a byte.
class Led {
public:
    Led(Lamp &lamp, LineOutput &output, Value &value) : _lamp(lamp), _output(output), _value(value) {}

    /// Takes one byte of the serial line: `LED:1` and `LED:0` set, `LED` asks, and each is answered.
    void receive(char byte);
    /// Takes what a central has written to the characteristic: a byte, 0 for off, anything else for on. Anything but one
    /// byte changes nothing.
    void written();

private:
    void set(bool isOn);
    void tell();
    uint8_t byte() const { return _isOn ? 1 : 0; }

    Lamp &_lamp;
    LineOutput &_output;
    Value &_value;
    CommandLine _commandLine;
    bool _isOn = false;
};
