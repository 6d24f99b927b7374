#pragma once

#include <stdint.h>

/// The pump's motor output: an enable line and a PWM output.
class Motor {
public:
    /// Sets both outputs. `duty` is the PWM value, 0-255.
    virtual void drive(bool enabled, uint8_t duty) = 0;

protected:
    ~Motor() = default;
};

/// The pump's state machine. Times are milliseconds of a clock that wraps at 2^32.
///
/// Every change of state drives the motor immediately, before anything is reported.
class Pump {
public:
    enum class State : uint8_t {
        off,
        on,
        /// Stopped by a safety check. Only `stop` leaves this state.
        error,
    };

    /// The PWM value at the start: 70 %.
    static const uint8_t startSpeed = 180;
    /// The longest run in milliseconds, from the last `start`.
    static const uint32_t runLimit = 30UL * 60 * 1000;

    explicit Pump(Motor &motor) : _motor(motor) {}

    /// Starts the pump, or restarts it with a new run timer and the start speed. False in the error state.
    bool start(uint32_t now);
    /// Stops the pump in every state, and leaves the error state.
    void stop();
    /// Stops and enters the error state.
    void fail();
    /// Sets the PWM value; at 0 the pump is on, but stands still.
    /// Call only while the pump is on: this drives the motor in any state.
    void setSpeed(uint8_t pwm);

    State state() const { return _state; }
    bool isOn() const { return _state == State::on; }
    /// The PWM value, 0-255.
    uint8_t speed() const { return _speed; }
    /// The speed in whole percent, truncated.
    uint8_t percent() const { return uint16_t(_speed) * 100 / 255; }
    /// Milliseconds since the start; valid only while the pump is on.
    uint32_t runtime(uint32_t now) const { return now - _startedAt; }
    /// Milliseconds until `runLimit`, at least 0; valid only while the pump is on.
    uint32_t remaining(uint32_t now) const;

private:
    Motor &_motor;
    State _state = State::off;
    uint8_t _speed = 0;
    uint32_t _startedAt = 0;
};
