#pragma once

#include <stdint.h>

/// A debounced push button. Sample it often: the main loop runs too rarely to see a short press.
class Button {
public:
    /// The time in milliseconds for which a level must hold before it counts.
    static const uint8_t settleTime = 50;

    /// Takes the button's level at the time `now`, in milliseconds.
    void sample(bool pressed, uint32_t now);

    /// True once for each press. A button that is already down at the first sample does not count as pressed.
    bool takePress();

private:
    /// Whether there was a sample.
    bool _sampled = false;
    /// The last level that has held for `settleTime`.
    bool _settled = false;
    /// The level of the last sample.
    bool _level = false;
    /// Whether a press waits for `takePress`.
    bool _press = false;
    /// The time of the first sample with this level.
    uint32_t _changedAt = 0;
};
