#pragma once

#include "src/storm.h"

/// The UART, which is USB on most boards.
class SerialOutput final : public Output {
public:
    size_t room() override;
    void write(const char *bytes, size_t length) override;
};

/// The backup characteristic's notifications.
class BleOutput final : public Output {
public:
    /// What one notification holds; 0 while no central is there, or one was sent in this turn.
    size_t room() override;
    void write(const char *bytes, size_t length) override;
};

/// The log, a file in flash.
class FlashLog final : public LogStore {
public:
    size_t size() override;
    size_t read(size_t offset, char *bytes, size_t length) override;
    void append(const char *bytes, size_t length) override;
};

/// The ESP32 and what is soldered to it: the UART, the radio, the flash, the sensors.
class Board {
public:
    static const unsigned long baud = 115200;

    /// Opens all of it. Where the flash can't be used the serial line says so, the log stays empty, and rows are sent live.
    void begin();

    /// Reads one received byte; false when there is none.
    bool receive(char &byte);
    /// Takes what a central has written to the backup characteristic; 0 when nothing was.
    size_t receivePacket(char *bytes, size_t size);
    /// Whether a central has come or gone since this was last asked.
    bool takeCentralChange();
    /// Reads a sensor, one after the other.
    Measurement measure();
    /// Notifies the live characteristic of a raw row.
    void notifyLive(const char *row);
    /// Ends a turn of the loop.
    void rest();
};
