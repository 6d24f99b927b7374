#include "thermistor.h"

#include <math.h>

namespace {

const float fullScale = 1023.0f;
const float zeroCelsius = 273.15f;
const float nominalKelvin = 25.0f + zeroCelsius;
const float beta = 3950.0f;
const uint16_t lowestSound = 7;
const uint16_t highestSound = 1012;

}

float thermistorCelsius(uint16_t reading) {
    // The series resistor equals the thermistor's nominal resistance, so the ratio alone is enough.
    float ratio = fullScale / float(reading) - 1.0f;
    return 1.0f / (1.0f / nominalKelvin + float(log(ratio)) / beta) - zeroCelsius;
}

bool thermistorBroken(uint16_t reading) {
    return reading < lowestSound || reading > highestSound;
}
