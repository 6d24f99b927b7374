#pragma once

#include "channel.h"
#include "command_line.h"

/// What was measured at one point.
struct Measurement {
    unsigned pipe;
    unsigned port;
    unsigned point;
    float value;
};

/// The firmware apart from the board: stores what is measured, and gives it out over both carriers.
class Storm {
public:
    Storm(LogStore &store, Output &serial, Output &ble)
        : _store(store), _serial(store, serial, Channel::Carrier::line),
          _ble(store, ble, Channel::Carrier::packets) {}

    /// Takes one byte of the serial line.
    void receive(char byte);
    /// Takes what was written to the backup characteristic.
    void receivePacket(const char *bytes, size_t length);
    /// A central has come or gone: what waited is not for the next one.
    void centralChanged() { _ble.stop(); }

    /// Stores a measurement and tells of it. `row` has room for `Channel::rowLimit` bytes and gets it as text, for the
    /// live characteristic.
    void measured(const Measurement &measurement, char *row);
    /// Sends what there is room for; called in every turn of the loop.
    void step();

private:
    LogStore &_store;
    Channel _serial;
    Channel _ble;
    CommandLine _commandLine;
};
