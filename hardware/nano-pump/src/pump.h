#pragma once

#include <stdint.h>

/// What the pump hangs on: an enable line and a PWM output.
class Motor {
public:
    virtual void drive(bool enabled, uint8_t duty) = 0;

protected:
    ~Motor() = default;
};

/// The pump's state machine. Times are milliseconds of a clock that wraps at 2^32.
///
/// The motor is driven at once by whatever changes the state, before anything is said about it.
class Pump {
public:
    enum class State : uint8_t {
        off,
        on,
        /// Stopped by a safety check; only `stop` leaves it.
        error,
    };

    /// PWM value that the pump starts at: 70 %.
    static const uint8_t startSpeed = 180;
    static const uint32_t runLimit = 30UL * 60 * 1000;

    explicit Pump(Motor &motor) : _motor(motor) {}

    /// Starts, or restarts with a new run timer and the start speed. False in the error state.
    bool start(uint32_t now);
    /// Always works, and leaves the error state.
    void stop();
    /// Stops and enters the error state.
    void fail();
    /// Only while the pump is on. 0 is allowed: on, but still.
    void setSpeed(uint8_t pwm);

    State state() const { return _state; }
    bool isOn() const { return _state == State::on; }
    /// PWM value, 0-255.
    uint8_t speed() const { return _speed; }
    /// Whole percent, truncated.
    uint8_t percent() const { return uint16_t(_speed) * 100 / 255; }
    /// Milliseconds since the start; only while the pump is on.
    uint32_t runtime(uint32_t now) const { return now - _startedAt; }
    /// Milliseconds until `runLimit`, not below 0; only while the pump is on.
    uint32_t remaining(uint32_t now) const;

private:
    Motor &_motor;
    State _state = State::off;
    uint8_t _speed = 0;
    uint32_t _startedAt = 0;
};
