#pragma once

#include <stdint.h>

#include "button.h"
#include "command.h"
#include "command_line.h"
#include "potentiometer.h"
#include "pump.h"
#include "safety.h"
#include "status_text.h"

/// A sink for lines. The implementation adds the line end.
class LineOutput {
public:
    virtual void line(const char *text) = 0;

protected:
    ~LineOutput() = default;
};

/// The board's measurements in one turn: the clock in milliseconds, the rest as 10-bit readings.
struct Inputs {
    uint32_t now;
    uint16_t water;
    uint16_t skin;
    uint16_t potentiometer;
};

/// The board-independent firmware. One call of `turn` is one turn of the main loop.
class Controller {
public:
    /// Milliseconds between unsolicited STATUS lines, counted from the boot. They are sent while the pump is on.
    static const uint16_t statusInterval = 5000;

    Controller(Motor &motor, LineOutput &output, Thermistors thermistors, Policy policy, SkinLimits limits)
        : _pump(motor), _policy(policy), _safety(policy, limits, thermistors == Thermistors::waterAndSkin), _output(output),
          _thermistors(thermistors) {}

    /// Takes readings before the first turn, so that a fault is known when the first command is handled.
    void observe(const Inputs &inputs) { _safety.take(inputs.water, inputs.skin); }

    /// Runs the safety checks, then handles the button, the potentiometer, the unsolicited STATUS, and at most one
    /// command. Returns whether there was a command.
    bool turn(const Inputs &inputs, Button &button, CommandLine &commandLine);

private:
    void checkSafety(const Inputs &inputs);
    void failForFinding(const Inputs &inputs);
    void fail(const char *code, const char *text);
    bool start(const Inputs &inputs);
    void toggle(const Inputs &inputs);
    void reportPeriodically(const Inputs &inputs);
    void handle(const Command &command, const Inputs &inputs);
    void handleSpeed(long value);
    void sendStatus(const Inputs &inputs);

    Pump _pump;
    Policy _policy;
    Safety _safety;
    /// The finding of the current turn.
    Finding _finding = Finding::nothing;
    Potentiometer _potentiometer;
    LineOutput &_output;
    Thermistors _thermistors;
    /// The time at which the last unsolicited STATUS was due.
    uint32_t _reportedAt = 0;
};
