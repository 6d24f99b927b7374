#pragma once

#include "src/storm.h"

/// The UART, which most boards connect to USB.
class SerialOutput final : public Output {
public:
    size_t room() override;
    void write(const char *bytes, size_t length) override;
};

/// The backup characteristic's notifications.
class BleOutput final : public Output {
public:
    /// The payload size of one notification; 0 if no central is connected, or if this turn of the loop has already
    /// notified the backup characteristic.
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

/// The ESP32 with its UART, radio, flash and sensors.
class Board {
public:
    static const unsigned long baud = 115200;

    /// Opens the UART, the flash and the radio. If the flash is unusable, the serial line says so, the log stays empty,
    /// and rows are only sent live.
    void begin();

    /// Reads one received byte; false if there is none.
    bool receive(char &byte);
    /// Takes the packet that a central has written to the backup characteristic, cut to `size` bytes; returns its
    /// length, 0 if there is none.
    size_t receivePacket(char *bytes, size_t size);
    /// Whether a central has connected or disconnected since the last call.
    bool takeCentralChange();
    /// Reads the next sensor in turn.
    Measurement measure();
    /// Sends a row without a prefix as a notification of the live characteristic, if a central is connected.
    void notifyLive(const char *row);
    /// Waits at the end of a turn of the loop: 10 ms if this turn has notified the backup characteristic, else 1 ms.
    void rest();
};
