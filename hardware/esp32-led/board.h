#pragma once

#include "src/led.h"

/// The ESP32 and what is soldered to it: the lamp, the UART, the radio.
class Board final : public Lamp, public LineOutput {
public:
    static const unsigned long baud = 115200;

    void begin();

    /// Reads one received byte; false when there is none.
    bool receive(char &byte);
    /// Takes the byte that a central has written to the characteristic; false when none was.
    bool receiveValue(uint8_t &value);
    /// Puts the value into the characteristic, and tells the central where it has changed.
    void showValue(uint8_t value);
    /// Ends a turn of the loop.
    void rest();

    void light(bool isOn) override;
    void line(const char *text) override;
};
