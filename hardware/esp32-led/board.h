#pragma once

#include "src/led.h"

/// The ESP32-S3 with its lamp, UART and radio.
class Board final : public Lamp, public LineOutput, public Value {
public:
    static const unsigned long baud = 115200;

    /// Switches the lamp off, and opens the UART and the radio.
    void begin();

    /// Reads one received byte; false if there is none.
    bool receive(char &byte);
    /// Whether a central has written to the characteristic since the last call.
    bool takeWrite();
    /// Waits for 1 ms, at the end of a turn of the loop.
    void rest();

    void light(bool isOn) override;
    void line(const char *text) override;
    size_t read(uint8_t *bytes, size_t size) override;
    void set(uint8_t byte) override;
    void notify() override;
};
