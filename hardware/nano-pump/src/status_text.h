#pragma once

#include <stddef.h>
#include <stdint.h>

#include "pump.h"
#include "safety.h"

/// The thermistors of the board, which determine the fields of its lines.
enum class Thermistors : uint8_t {
    /// One thermistor, on the skin: `Temp:34.5C`, `TEMP:34.5`.
    skin,
    /// Two thermistors: `WaterTemp:12.0C,SkinTemp:34.5C`, `TEMP:{Water:12.0C,Skin:34.5C}`.
    waterAndSkin,
};

/// Degrees Celsius. `water` is meaningless on a board with one thermistor.
struct Temperatures {
    float water;
    float skin;
};

/// The lines with measurements, without their line ends.
namespace StatusText {

/// A buffer size in bytes that holds any of the lines, including the NUL.
const size_t size = 112;

/// Writes the `STATUS:{...}` line. Speed and times are included only while the pump is on.
void status(char (&text)[size], const Pump &pump, uint32_t now, Thermistors thermistors, Temperatures temperatures);

/// Writes the `TEMP:` line.
void temperature(char (&text)[size], Thermistors thermistors, Temperatures temperatures);

/// Writes a finding as text for people: `Skin temperature too high: 41.2C` (on the board `?C`, because avr-libc's
/// default printf knows no `%f`, and hosts in the field expect this text), `Skin temperature too low: 8.2C`, `Skin
/// thermistor open or shorted`, or `Water thermistor open or shorted`. Empty for `Finding::nothing`.
void finding(char (&text)[size], Finding finding, float skin);

}
