#include "controller.h"

#include <stdio.h>

#include "thermistor.h"

namespace {

Temperatures temperatures(const Inputs &inputs) {
    return {thermistorCelsius(inputs.water), thermistorCelsius(inputs.skin)};
}

}

bool Controller::turn(const Inputs &inputs, Button &button, CommandLine &commandLine) {
    // Also check while the pump is off, so that a command to start already knows of a fault.
    _finding = _safety.take(inputs.water, inputs.skin);
    if (_pump.isOn()) {
        checkSafety(inputs);
    }
    if (button.takePress()) {
        toggle(inputs);
    }
    if (_pump.isOn() && _potentiometer.moved(inputs.potentiometer, inputs.now)) {
        _pump.setSpeed(_potentiometer.speed());
    }
    reportPeriodically(inputs);
    switch (commandLine.pending()) {
    case CommandLine::Pending::nothing:
        return false;
    case CommandLine::Pending::overflow:
        _output.line("ERROR:CMD_TOO_LONG");
        break;
    case CommandLine::Pending::command:
        handle(Command::parse(commandLine.text()), inputs);
        break;
    }
    commandLine.clear();
    return true;
}

void Controller::checkSafety(const Inputs &inputs) {
    if (_pump.remaining(inputs.now) == 0) {
        fail("ERROR:SAFETY_SHUTOFF", "Maximum runtime exceeded");
    } else if (_finding != Finding::nothing) {
        failForFinding(inputs);
    }
}

void Controller::failForFinding(const Inputs &inputs) {
    char text[StatusText::size];
    StatusText::finding(text, _finding, thermistorCelsius(inputs.skin));
    fail("ERROR:OVERHEAT", text);
}

/// Stops the pump before reporting why. Sends an error code that the hosts in the field know, and a text for people.
void Controller::fail(const char *code, const char *text) {
    _pump.fail();
    _output.line(code);
    _output.line(text);
}

/// Starts the pump; returns false if it is in the error state. With `Policy::safe`, a finding is reported first, and
/// puts the pump into the error state.
bool Controller::start(const Inputs &inputs) {
    // A device in the field would start, and stop one turn later.
    if (_policy == Policy::safe && _finding != Finding::nothing && _pump.state() != Pump::State::error) {
        failForFinding(inputs);
    }
    return _pump.start(inputs.now);
}

void Controller::toggle(const Inputs &inputs) {
    // While the pump is on or in the error state, the button acts like OFF. Starting again after an error therefore
    // needs a second, deliberate press.
    if (_pump.state() == Pump::State::off) {
        if (start(inputs)) {
            _output.line("MANUAL:ON");
        }
    } else {
        _pump.stop();
        _output.line("MANUAL:OFF");
    }
}

void Controller::reportPeriodically(const Inputs &inputs) {
    uint32_t elapsed = inputs.now - _reportedAt;
    if (elapsed < statusInterval) {
        return;
    }
    // The reporting beat counts from the boot, and continues while the pump is off. A late turn does not delay the next
    // beat, and missed beats are not made up for.
    _reportedAt = inputs.now - elapsed % statusInterval;
    if (_pump.isOn()) {
        sendStatus(inputs);
    }
}

void Controller::handle(const Command &command, const Inputs &inputs) {
    switch (command.kind) {
    case Command::Kind::on:
        if (start(inputs)) {
            _output.line("OK");
            _output.line("PUMP:ON");
        } else {
            _output.line("ERROR:PUMP_START_FAILED");
        }
        break;
    case Command::Kind::off:
        _pump.stop();
        _output.line("OK");
        _output.line("PUMP:OFF");
        break;
    case Command::Kind::speed:
        handleSpeed(command.value);
        break;
    case Command::Kind::status:
        sendStatus(inputs);
        break;
    case Command::Kind::temp: {
        char text[StatusText::size];
        StatusText::temperature(text, _thermistors, temperatures(inputs));
        _output.line(text);
        break;
    }
    case Command::Kind::unknown:
        _output.line("ERROR:UNKNOWN_COMMAND");
        break;
    }
}

void Controller::handleSpeed(long value) {
    if (value < 0 || value > 255) {
        _output.line("ERROR:INVALID_SPEED_VALUE");
    } else if (!_pump.isOn()) {
        _output.line("ERROR:PUMP_NOT_RUNNING");
    } else {
        _pump.setSpeed(uint8_t(value));
        char text[sizeof "SPEED:255"];
        snprintf(text, sizeof text, "SPEED:%u", unsigned(_pump.speed()));
        _output.line("OK");
        _output.line(text);
    }
}

void Controller::sendStatus(const Inputs &inputs) {
    char text[StatusText::size];
    StatusText::status(text, _pump, inputs.now, _thermistors, temperatures(inputs));
    _output.line(text);
}
