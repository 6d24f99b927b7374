#include "checks.h"
#include "potentiometer.h"

static void mapsItsRange() {
    CHECK(Potentiometer::speedFor(0) == 0);
    CHECK(Potentiometer::speedFor(19) == 0);
    CHECK(Potentiometer::speedFor(20) == 10);
    CHECK(Potentiometer::speedFor(512) == 130);
    CHECK(Potentiometer::speedFor(715) == 179);
    CHECK(Potentiometer::speedFor(716) == 180);
    CHECK(Potentiometer::speedFor(1022) == 254);
    CHECK(Potentiometer::speedFor(1023) == 255);
}

static void neverFallsAsItIsTurnedUp() {
    for (uint16_t reading = 1; reading <= 1023; reading++) {
        CHECK(Potentiometer::speedFor(reading) >= Potentiometer::speedFor(reading - 1));
    }
}

/// A reading that maps to `speed`.
static uint16_t readingFor(uint8_t speed) {
    uint16_t reading = 0;
    while (Potentiometer::speedFor(reading) != speed) {
        reading++;
    }
    return reading;
}

static void countsAsStandingAt180AtBoot() {
    for (uint8_t speed = 175; speed <= 185; speed++) {
        Potentiometer knob;
        CHECK(!knob.moved(readingFor(speed), 1000));
    }
    for (uint8_t speed : {174, 186}) {
        Potentiometer knob;
        CHECK(knob.moved(readingFor(speed), 1000));
        CHECK(knob.speed() == speed);
    }
}

static void comparesWithTheLastValueTaken() {
    Potentiometer knob;
    CHECK(knob.moved(readingFor(100), 1000));
    CHECK(!knob.moved(readingFor(105), 2000));
    CHECK(knob.moved(readingFor(106), 3000));
    CHECK(!knob.moved(readingFor(101), 4000));
    CHECK(knob.moved(0, 5000));
    CHECK(knob.speed() == 0);
}

static void isReadEveryTenthOfASecond() {
    Potentiometer knob;
    CHECK(knob.moved(1023, 100));
    CHECK(!knob.moved(0, 199));
    CHECK(knob.moved(0, 200));
    uint32_t late = UINT32_MAX - 49;
    CHECK(knob.moved(1023, late));
    CHECK(!knob.moved(0, late + 99));
    CHECK(knob.moved(0, late + 100));
}

void checkPotentiometer() {
    mapsItsRange();
    neverFallsAsItIsTurnedUp();
    countsAsStandingAt180AtBoot();
    comparesWithTheLastValueTaken();
    isReadEveryTenthOfASecond();
}
