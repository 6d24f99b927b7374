#pragma once

#include <stdint.h>

/// The rules by which the readings of the thermistors stop the pump.
enum class Policy : uint8_t {
    /// Stops after several readings of skin outside its limits, or of a broken thermistor.
    safe,
    /// Stops at one reading of skin that is too hot, like the devices in the field.
    field,
};

/// The allowed range of the skin temperature in degrees Celsius; beyond it the pump stops.
struct SkinLimits {
    float lowest;
    float highest;
};

/// A fault found in the thermistor readings.
enum class Finding : uint8_t {
    nothing,
    skinTooHot,
    skinTooCold,
    skinBroken,
    waterBroken,
};

/// Judges the thermistor readings of each turn.
class Safety {
public:
    Safety(Policy policy, SkinLimits limits, bool hasWater) : _policy(policy), _limits(limits), _hasWater(hasWater) {}

    /// Takes one turn's 10-bit readings; returns the fault for which the pump must stop, if any. With `Policy::safe`
    /// this is a fault that several recent readings have established.
    Finding take(uint16_t water, uint16_t skin);

private:
    /// Judges one reading of each thermistor, without regard to earlier ones.
    Finding judge(uint16_t water, uint16_t skin) const;

    Policy _policy;
    SkinLimits _limits;
    bool _hasWater;
    /// Rises by two with each bad reading, and falls by one with each good one.
    uint8_t _score = 0;
};
