#pragma once

#include <stddef.h>
#include <stdint.h>

#include "pump.h"
#include "safety.h"

/// Which thermistors the board has, hence which fields its lines carry.
enum class Thermistors : uint8_t {
    /// One, on the skin: `Temp:34.5C`, `TEMP:34.5`.
    skin,
    /// `WaterTemp:12.0C,SkinTemp:34.5C`, `TEMP:{Water:12.0C,Skin:34.5C}`.
    waterAndSkin,
};

/// Degrees Celsius; `water` means nothing on a board with one thermistor.
struct Temperatures {
    float water;
    float skin;
};

/// The lines that carry measurements, without their line ends.
namespace StatusText {

/// Bytes that hold any of the lines, the NUL included.
const size_t size = 112;

/// The `STATUS:{...}` line. Speed and times are there only while the pump is on.
void status(char (&text)[size], const Pump &pump, uint32_t now, Thermistors thermistors, Temperatures temperatures);

/// The `TEMP:` line.
void temperature(char (&text)[size], Thermistors thermistors, Temperatures temperatures);

/// What a finding says to people: `Skin temperature too high: 41.2C`, on the board `?C`, because avr-libc's default printf
/// knows no `%f`, and hosts in the field expect both; `Skin temperature too low: 8.2C`; `Skin thermistor open or shorted`;
/// `Water thermistor open or shorted`.
void finding(char (&text)[size], Finding finding, float skin);

}
