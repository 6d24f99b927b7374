#pragma once

#include <stdint.h>

/// Converts a 10-bit reading of the divider to degrees Celsius: NTC 10 kOhm at 25 C, B 3950, from +5 V to the pin, 10
/// kOhm from the pin to ground.
///
/// A broken divider stays visible: open (reading 0) and shorted (1023) both give -273.1, and the neighbouring readings
/// give about -77 and several hundred degrees.
float thermistorCelsius(uint16_t reading);

/// Whether the thermistor's wire is open or shorted: readings that a working one gives only below -55 C or above 175 C.
bool thermistorBroken(uint16_t reading);
