#pragma once

#include <stdint.h>

/// Degrees Celsius for a 10-bit reading of the divider: NTC 10 kOhm at 25 C, B 3950, from +5 V to the pin, 10 kOhm from the
/// pin to ground.
///
/// A broken divider is not hidden. Open (reading 0) and shorted (1023) both come out as -273.1, readings beside them
/// as about -77 and several hundred degrees.
float thermistorCelsius(uint16_t reading);

/// Whether the wire of the thermistor is open or shorted: readings that it gives below -55 C or above 175 C only.
bool thermistorBroken(uint16_t reading);
