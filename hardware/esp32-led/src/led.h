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

/// A sink for lines. The implementation adds the line end.
class LineOutput {
public:
    virtual void line(const char *text) = 0;

protected:
    ~LineOutput() = default;
};

/// The BLE characteristic. Centrals read and write one shared value, which the BLE library stores.
class Value {
public:
    /// Copies at most `size` bytes of the value; returns the value's full length.
    virtual size_t read(uint8_t *bytes, size_t size) = 0;
    /// Replaces the value by one byte, without a notification.
    virtual void set(uint8_t byte) = 0;
    /// Notifies subscribed centrals of the value.
    virtual void notify() = 0;

protected:
    ~Value() = default;
};

/// The board-independent firmware: one boolean, set by a serial line or by a BLE byte.
class Led {
public:
    Led(Lamp &lamp, LineOutput &output, Value &value) : _lamp(lamp), _output(output), _value(value) {}

    /// Takes one byte of the serial line. `LED:1` and `LED:0` set the state, and `LED` asks for it; each of these lines
    /// gets the state as its reply. Other lines are ignored.
    void receive(char byte);
    /// Handles a central's write to the characteristic: one byte, 0 for off, anything else for on. A value that is not
    /// exactly one byte changes nothing.
    void written();

private:
    void set(bool isOn);
    /// Sends the state as a serial line.
    void tell();
    uint8_t byte() const { return _isOn ? 1 : 0; }

    Lamp &_lamp;
    LineOutput &_output;
    Value &_value;
    CommandLine _commandLine;
    bool _isOn = false;
};
