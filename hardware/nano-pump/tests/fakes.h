#pragma once

#include <string>
#include <vector>

#include "controller.h"

/// Records the arguments of the last call of `drive`.
struct FakeMotor : Motor {
    void drive(bool nowEnabled, uint8_t nowDuty) override {
        enabled = nowEnabled;
        duty = nowDuty;
    }

    bool runs(uint8_t wanted) const { return enabled && duty == wanted; }
    bool rests() const { return !enabled && duty == 0; }

    bool enabled = true;
    uint8_t duty = 1;
};

/// Records every line.
struct FakeOutput : LineOutput {
    void line(const char *text) override { lines.push_back(text); }

    std::vector<std::string> lines;
};
