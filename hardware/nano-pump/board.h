#pragma once

#include "src/controller.h"

/// The Arduino Nano with its pins, UART and clock.
class Board final : public Motor, public LineOutput {
public:
    static const long baud = 9600;
    /// The watchdog's time-out in milliseconds. A turn of the loop takes less than half of it, even if the turn sent a
    /// fault and STATUS twice.
    static const uint16_t watchdogTime = 1000;

    /// Puts every pin into its resting state, the pump's first, and opens the UART.
    void begin();

    Inputs inputs() const;
    /// Whether the button on the lid is held down.
    bool buttonDown() const;
    /// Reads one received byte; false if there is none.
    bool receive(char &byte);
    void statusLed(bool lit);
    /// Idles until the next interrupt, which is at most one millisecond away.
    void nap();
    /// The reason for the board's start; see `resetCause`.
    const char *startedBy() const;
    /// Starts or restarts the watchdog. Without another call within `watchdogTime` the board resets, and so the pump
    /// stops.
    void feedWatchdog();

    void drive(bool enabled, uint8_t duty) override;
    void line(const char *text) override;
};
