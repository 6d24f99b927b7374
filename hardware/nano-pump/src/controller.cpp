#include "controller.h"

#include <stdio.h>

#include "thermistor.h"

constexpr float Controller::skinLimit;

namespace {

Temperatures temperatures(const Inputs &inputs) {
    return {thermistorCelsius(inputs.water), thermistorCelsius(inputs.skin)};
}

}

void Controller::turn(const Inputs &inputs, Button &button, CommandLine &commandLine) {
    if (_pump.isOn()) {
        checkSafety(inputs);
    }
    if (button.takePress()) {
        toggle(inputs.now);
    }
    if (_pump.isOn() && _potentiometer.moved(inputs.potentiometer, inputs.now)) {
        _pump.setSpeed(_potentiometer.speed());
    }
    if (_pump.isOn()) {
        reportPeriodically(inputs);
    }
    switch (commandLine.pending()) {
    case CommandLine::Pending::nothing:
        return;
    case CommandLine::Pending::overflow:
        _output.line("ERROR:CMD_TOO_LONG");
        break;
    case CommandLine::Pending::command:
        handle(Command::parse(commandLine.text(), commandLine.length()), inputs);
        break;
    }
    commandLine.clear();
}

void Controller::checkSafety(const Inputs &inputs) {
    if (_pump.remaining(inputs.now) == 0) {
        _pump.fail();
        _output.line("ERROR:SAFETY_SHUTOFF");
        _output.line("Maximum runtime exceeded");
        return;
    }
    float skin = thermistorCelsius(inputs.skin);
    // A broken thermistor reads as very cold or as nan, neither of which is above the limit: see the README's safety notes.
    if (skin > skinLimit) {
        _pump.fail();
        _output.line("ERROR:OVERHEAT");
        char text[StatusText::size];
        StatusText::overheat(text, skin);
        _output.line(text);
    }
}

void Controller::toggle(uint32_t now) {
    // In the error state the button acts as OFF does: a second, deliberate press is needed to start again.
    if (_pump.state() == Pump::State::off) {
        startPump(now);
        _output.line("MANUAL:ON");
    } else {
        _pump.stop();
        _output.line("MANUAL:OFF");
    }
}

void Controller::reportPeriodically(const Inputs &inputs) {
    uint32_t elapsed = inputs.now - _reportedAt;
    if (elapsed >= statusInterval) {
        // On the beat of the start, however late this turn comes; intervals missed are not made up for.
        _reportedAt = inputs.now - elapsed % statusInterval;
        sendStatus(inputs);
    }
}

void Controller::handle(const Command &command, const Inputs &inputs) {
    switch (command.kind) {
    case Command::Kind::on:
        if (startPump(inputs.now)) {
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
    if (!_pump.isOn()) {
        _output.line("ERROR:PUMP_NOT_RUNNING");
    } else if (value < 0 || value > 255) {
        _output.line("ERROR:INVALID_SPEED_VALUE");
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

bool Controller::startPump(uint32_t now) {
    if (!_pump.isOn()) {
        // The first unasked STATUS comes a whole interval after the start; a restart does not put it off.
        _reportedAt = now;
    }
    return _pump.start(now);
}
