#pragma once

#include "src/controller.h"

/// The Arduino Nano and what is soldered to it: the pins, the UART, the clock.
class Board final : public Motor, public LineOutput {
public:
    static const long baud = 9600;
    /// Milliseconds. The longest turn, in which a fault is told and STATUS twice, takes less than half of it.
    static const uint16_t watchdogTime = 1000;

    /// Puts every pin into its resting state, the pump's first, and opens the UART.
    void begin();

    Inputs inputs() const;
    /// True while the lid's button is held down.
    bool buttonDown() const;
    /// Reads one received byte; false when there is none.
    bool receive(char &byte);
    void statusLed(bool lit);
    /// Idles until the next interrupt, at the latest the next millisecond's tick.
    void nap();
    /// Why the board has started: see `resetCause`.
    const char *startedBy() const;
    /// From now on the board is reset, and so the pump stopped, when `watchdogTime` goes by without another call.
    void feedWatchdog();

    void drive(bool enabled, uint8_t duty) override;
    void line(const char *text) override;
};
