#include "pump.h"

bool Pump::start(uint32_t now) {
    if (_state == State::error) {
        return false;
    }
    _state = State::on;
    _startedAt = now;
    setSpeed(startSpeed);
    return true;
}

void Pump::stop() {
    _state = State::off;
    _speed = 0;
    _motor.drive(false, 0);
}

void Pump::fail() {
    stop();
    _state = State::error;
}

void Pump::setSpeed(uint8_t pwm) {
    _speed = pwm;
    _motor.drive(true, pwm);
}

uint32_t Pump::remaining(uint32_t now) const {
    uint32_t elapsed = runtime(now);
    return elapsed < runLimit ? runLimit - elapsed : 0;
}
