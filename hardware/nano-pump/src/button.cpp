#include "button.h"

void Button::sample(bool pressed, uint32_t now) {
    if (!_sampled) {
        _sampled = true;
        _settled = _level = pressed;
        return;
    }
    if (pressed != _level) {
        _level = pressed;
        _changedAt = now;
        return;
    }
    if (_level != _settled && now - _changedAt >= settleTime) {
        _settled = _level;
        _press = _press || _settled;
    }
}

bool Button::takePress() {
    bool press = _press;
    _press = false;
    return press;
}
