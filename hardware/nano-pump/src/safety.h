#pragma once

#include <stdint.h>

/// What stops the pump, and how soon.
enum class Policy : uint8_t {
    /// What no skin and no sound thermistor gives, once several readings have shown it.
    safe,
    /// Skin that is too hot, at one reading: as the devices in the field do.
    field,
};

/// Degrees Celsius that the skin may have; beyond them the pump stops.
struct SkinLimits {
    float lowest;
    float highest;
};

/// What is wrong with what the thermistors say.
enum class Finding : uint8_t {
    nothing,
    skinTooHot,
    skinTooCold,
    skinBroken,
    waterBroken,
};

/// Judges what the thermistors say, turn for turn.
class Safety {
public:
    Safety(Policy policy, SkinLimits limits, bool hasWater) : _policy(policy), _limits(limits), _hasWater(hasWater) {}

    /// Takes in one turn's 10-bit readings; returns what the pump has to stop for.
    Finding take(uint16_t water, uint16_t skin);

private:
    Finding judge(uint16_t water, uint16_t skin) const;

    Policy _policy;
    SkinLimits _limits;
    bool _hasWater;
    /// Two more for each bad reading, one less for each good one.
    uint8_t _score = 0;
};
