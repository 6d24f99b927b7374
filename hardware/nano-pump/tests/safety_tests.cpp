#include <vector>

#include "checks.h"
#include "safety.h"
#include "thermistor.h"

static const SkinLimits limits = {10, 40};

/// The lowest reading of at least `celsius` degrees.
static uint16_t readingFrom(float celsius) {
    uint16_t reading = 1;
    while (thermistorCelsius(reading) < celsius) {
        reading++;
    }
    return reading;
}

static const uint16_t sound = readingFrom(34);
static const uint16_t water = readingFrom(12);

/// The finding at the last of these readings of the skin.
static Finding findingAfter(Safety safety, const std::vector<uint16_t> &skin) {
    Finding finding = Finding::nothing;
    for (uint16_t reading : skin) {
        finding = safety.take(water, reading);
    }
    return finding;
}

static const Safety fresh(Policy::safe, limits, true);

static void threeBadReadingsInARowAreAFault() {
    CHECK(findingAfter(fresh, {0}) == Finding::nothing);
    CHECK(findingAfter(fresh, {0, 0}) == Finding::nothing);
    CHECK(findingAfter(fresh, {0, 0, 0}) == Finding::skinBroken);
    CHECK(findingAfter(fresh, {0, sound, 0, 0}) == Finding::nothing);
    CHECK(findingAfter(fresh, {0, 0, sound, 0, 0}) == Finding::skinBroken);
    // The last reading is good: a pump started after a fault has gone keeps running.
    CHECK(findingAfter(fresh, {0, 0, 0, sound}) == Finding::nothing);
    CHECK(findingAfter(fresh, {0, 0, 0, sound, 0}) == Finding::skinBroken);
}

static void goodReadingsMakeUpForEarlierBadOnes() {
    std::vector<uint16_t> loose = {0, sound, 0, sound, 0, sound, 0};
    CHECK(findingAfter(fresh, loose) == Finding::nothing);
    loose.insert(loose.begin(), {0, sound, sound});
    CHECK(findingAfter(fresh, loose) == Finding::nothing);
    loose.insert(loose.begin(), {0, 0});
    CHECK(findingAfter(fresh, loose) == Finding::skinBroken);
}

/// The number of readings before the one that establishes a fault, if readings are bad in the repeating pattern
/// `isBad`; 1000 if none does.
static int readingsUntilFound(const bool (&isBad)[5]) {
    Safety safety = fresh;
    int count = 0;
    while (count < 1000 && safety.take(water, isBad[count % 5] ? 0 : sound) == Finding::nothing) {
        count++;
    }
    return count;
}

static void aLooseContactIsAFaultSoonerOrLater() {
    CHECK(readingsUntilFound({true, true, true, true, false}) == 2);
    CHECK(readingsUntilFound({true, false, true, false, true}) < 9);
    CHECK(readingsUntilFound({true, false, true, false, false}) < 30);
    CHECK(readingsUntilFound({true, false, false, false, false}) == 1000);
}

static void faultsAreDistinguished() {
    for (uint16_t reading : {0, 1, 6, 1013, 1022, 1023}) {
        CHECK(findingAfter(fresh, {reading, reading, reading}) == Finding::skinBroken);
    }
    for (uint16_t reading : {uint16_t(7), uint16_t(30), uint16_t(readingFrom(10) - 1)}) {
        CHECK(findingAfter(fresh, {reading, reading, reading}) == Finding::skinTooCold);
    }
    uint16_t hot = readingFrom(40.1f);
    for (uint16_t reading : {hot, uint16_t(1000), uint16_t(1012)}) {
        CHECK(findingAfter(fresh, {reading, reading, reading}) == Finding::skinTooHot);
    }
    for (float celsius : {10.2f, 25.0f, 39.8f}) {
        uint16_t reading = readingFrom(celsius);
        CHECK(findingAfter(fresh, {reading, reading, reading}) == Finding::nothing);
    }
}

static void theFaultOfTheLastReadingIsReported() {
    uint16_t cold = readingFrom(5);
    CHECK(findingAfter(fresh, {0, 0, cold}) == Finding::skinTooCold);
    CHECK(findingAfter(fresh, {0, cold, 0}) == Finding::skinBroken);
}

static void aBrokenWaterThermistorIsAFaultIfThereIsOne() {
    for (bool hasWater : {false, true}) {
        for (uint16_t reading : {0, 1023}) {
            Safety safety(Policy::safe, limits, hasWater);
            safety.take(reading, sound);
            safety.take(reading, sound);
            CHECK(safety.take(reading, sound) == (hasWater ? Finding::waterBroken : Finding::nothing));
        }
        for (float celsius : {-40.0f, 0.5f, 60.0f, 95.0f}) {
            Safety safety(Policy::safe, limits, hasWater);
            uint16_t reading = readingFrom(celsius);
            safety.take(reading, sound);
            safety.take(reading, sound);
            CHECK(safety.take(reading, sound) == Finding::nothing);
        }
    }
}

static void inTheFieldOneHotReadingDecidesAndNothingElse() {
    Safety field(Policy::field, limits, true);
    CHECK(findingAfter(field, {readingFrom(40.1f)}) == Finding::skinTooHot);
    CHECK(findingAfter(field, {1022}) == Finding::skinTooHot);
    CHECK(findingAfter(field, {1022, sound}) == Finding::nothing);
    for (uint16_t reading : {uint16_t(0), uint16_t(1), uint16_t(1023), readingFrom(5)}) {
        CHECK(findingAfter(field, {reading, reading, reading, reading, reading}) == Finding::nothing);
    }
}

void checkSafety() {
    threeBadReadingsInARowAreAFault();
    goodReadingsMakeUpForEarlierBadOnes();
    aLooseContactIsAFaultSoonerOrLater();
    faultsAreDistinguished();
    theFaultOfTheLastReadingIsReported();
    aBrokenWaterThermistorIsAFaultIfThereIsOne();
    inTheFieldOneHotReadingDecidesAndNothingElse();
}
