#pragma once

#include <stdint.h>

#include "button.h"
#include "command.h"
#include "command_line.h"
#include "potentiometer.h"
#include "pump.h"
#include "status_text.h"

/// Where lines go. The implementation adds the line end.
class LineOutput {
public:
    virtual void line(const char *text) = 0;

protected:
    ~LineOutput() = default;
};

/// What the board measures once a turn: the clock in milliseconds, the rest as 10-bit readings.
struct Inputs {
    uint32_t now;
    uint16_t water;
    uint16_t skin;
    uint16_t potentiometer;
};

/// The firmware apart from the board: one call of `turn` is one turn of the main loop.
class Controller {
public:
    /// Degrees Celsius above which the skin is too hot.
    static constexpr float skinLimit = 40.0f;
    /// Milliseconds between unasked STATUS lines while the pump is on.
    static const uint16_t statusInterval = 5000;

    Controller(Motor &motor, LineOutput &output, Thermistors thermistors)
        : _pump(motor), _output(output), _thermistors(thermistors) {}

    /// Safety checks, button, potentiometer, unasked STATUS, then at most one command.
    void turn(const Inputs &inputs, Button &button, CommandLine &commandLine);

private:
    void checkSafety(const Inputs &inputs);
    void toggle(uint32_t now);
    void reportPeriodically(const Inputs &inputs);
    void handle(const Command &command, const Inputs &inputs);
    void handleSpeed(long value);
    void sendStatus(const Inputs &inputs);
    bool startPump(uint32_t now);

    Pump _pump;
    Potentiometer _potentiometer;
    LineOutput &_output;
    Thermistors _thermistors;
    uint32_t _reportedAt = 0;
};
