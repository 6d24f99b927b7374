#include <cmath>

#include "checks.h"
#include "thermistor.h"

/// The divider's reading at a temperature, calculated from the resistances.
static uint16_t readingAt(double celsius) {
    double thermistor = 10000 * std::exp(3950 * (1 / (celsius + 273.15) - 1 / 298.15));
    return uint16_t(std::lround(1023 * 10000 / (10000 + thermistor)));
}

static bool near(double seen, double wanted, double tolerance) {
    return std::fabs(seen - wanted) <= tolerance;
}

static void readsWithinATenthOfADegree() {
    for (double celsius = 0; celsius <= 60; celsius += 0.5) {
        CHECK(near(thermistorCelsius(readingAt(celsius)), celsius, 0.1));
    }
}

static void warmerMeansAHigherReading() {
    for (uint16_t reading = 2; reading < 1023; reading++) {
        CHECK(thermistorCelsius(reading) > thermistorCelsius(reading - 1));
    }
}

static void aBrokenDividerIsFarFromAnySkin() {
    CHECK(near(thermistorCelsius(0), -273.15, 0.01));
    CHECK(near(thermistorCelsius(1023), -273.15, 0.01));
    CHECK(near(thermistorCelsius(1), -77, 1));
    CHECK(thermistorCelsius(1022) > 300);
}

static void onlyReadingsAtTheEndsOfTheRangeCountAsBroken() {
    for (uint16_t reading : {0, 6, 1013, 1023}) {
        CHECK(thermistorBroken(reading));
    }
    CHECK(!thermistorBroken(7));
    CHECK(!thermistorBroken(1012));
    CHECK(!thermistorBroken(readingAt(-50)));
    CHECK(!thermistorBroken(readingAt(150)));
}

void checkThermistor() {
    readsWithinATenthOfADegree();
    warmerMeansAHigherReading();
    aBrokenDividerIsFarFromAnySkin();
    onlyReadingsAtTheEndsOfTheRangeCountAsBroken();
}
