#pragma once

#include "channel.h"
#include "command_line.h"

/// One sensor reading at one point. `pipe`, `port` and `point` say which sensor it is; the sketch measures in volts.
struct Measurement {
    unsigned pipe;
    unsigned port;
    unsigned point;
    float value;
};

/// The board-independent firmware: stores the measurements, and sends them over both carriers.
class Storm {
public:
    Storm(LogStore &store, Output &serial, Output &ble)
        : _store(store), _serial(store, serial, Channel::Carrier::line),
          _ble(store, ble, Channel::Carrier::packets) {}

    /// Takes one byte of the serial line. The line `GET_LOG` begins to send the log.
    void receive(char byte);
    /// Takes a packet that was written to the backup characteristic. `GET_LOG` begins to send the log.
    void receivePacket(const char *bytes, size_t length);
    /// Drops the pending BLE output when a central connects or disconnects: the output was meant for the previous
    /// central.
    void centralChanged() { _ble.stop(); }

    /// Stores a measurement, and sends it over both carriers. Writes it as text to `row`, which must hold
    /// `Channel::rowLimit` bytes, for the live characteristic. If it is too long, stores and sends nothing, and `row`
    /// is empty.
    void measured(const Measurement &measurement, char *row);
    /// Sends as much as the outputs accept. Called in every turn of the loop.
    void step();

private:
    LogStore &_store;
    Channel _serial;
    Channel _ble;
    CommandLine _commandLine;
};
