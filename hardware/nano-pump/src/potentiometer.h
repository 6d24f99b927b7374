#pragma once

#include <stdint.h>

/// The speed potentiometer. It reports a speed only when it is turned, so that a speed set by command stays.
class Potentiometer {
public:
    /// Milliseconds between readings.
    static const uint8_t interval = 100;

    /// The PWM value for a 10-bit reading: below 20 it is 0, else 20-1023 maps to 10-255.
    static uint8_t speedFor(uint16_t reading);

    /// Takes a reading, at most one in each `interval`. True if the knob's speed differs by more than 5 from the last
    /// one that was reported, or from 180 if there was none; `speed()` then returns the new one.
    bool moved(uint16_t reading, uint32_t now);

    uint8_t speed() const { return _taken; }

private:
    /// The speed that was last reported; at first the speed at which the pump starts.
    uint8_t _taken = 180;
    uint32_t _readAt = 0;
};
