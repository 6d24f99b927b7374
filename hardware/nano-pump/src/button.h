#pragma once

#include <stdint.h>

/// A push button without its bounces. Sample it often: the main loop looks at it far too rarely to see a short press.
class Button {
public:
    /// Milliseconds for which the level must hold.
    static const uint8_t settleTime = 50;

    void sample(bool pressed, uint32_t now);

    /// True once for each press. A button that is down at the first sample has not been pressed.
    bool takePress();

private:
    bool _sampled = false;
    bool _settled = false;
    bool _level = false;
    bool _press = false;
    uint32_t _changedAt = 0;
};
