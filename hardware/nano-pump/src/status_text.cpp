#include "status_text.h"

#include <stdio.h>
#include <stdlib.h>

namespace {

const uint32_t minute = 60000;

/// A value with one decimal, at least four characters wide. The buffer holds every value of a thermistor: -273.1 to a
/// few thousand, nan, inf.
struct Decimal {
    explicit Decimal(float value) {
#ifdef __AVR__
        dtostrf(value, 4, 1, text);
#else
        snprintf(text, sizeof text, "%4.1f", double(value));
#endif
    }

    char text[16];
};

}

namespace StatusText {

void status(char (&text)[size], const Pump &pump, uint32_t now, Thermistors thermistors, Temperatures temperatures) {
    int used;
    if (pump.isOn()) {
        used = snprintf(text, size, "STATUS:{State:ON,Speed:%u%%,Runtime:%um,Remaining:%um,", unsigned(pump.percent()),
                        unsigned(pump.runtime(now) / minute), unsigned(pump.remaining(now) / minute));
    } else {
        used = snprintf(text, size, "STATUS:{State:%s,", pump.state() == Pump::State::error ? "ERROR" : "OFF");
    }

    Decimal skin(temperatures.skin);
    if (thermistors == Thermistors::skin) {
        snprintf(text + used, size - used, "Temp:%sC}", skin.text);
    } else {
        Decimal water(temperatures.water);
        snprintf(text + used, size - used, "WaterTemp:%sC,SkinTemp:%sC}", water.text, skin.text);
    }
}

void temperature(char (&text)[size], Thermistors thermistors, Temperatures temperatures) {
    Decimal skin(temperatures.skin);
    if (thermistors == Thermistors::skin) {
        snprintf(text, size, "TEMP:%s", skin.text);
    } else {
        Decimal water(temperatures.water);
        snprintf(text, size, "TEMP:{Water:%sC,Skin:%sC}", water.text, skin.text);
    }
}

void finding(char (&text)[size], Finding finding, float skin) {
    switch (finding) {
    case Finding::nothing:
        text[0] = '\0';
        break;
    case Finding::skinTooHot:
        snprintf(text, size, "Skin temperature too high: %.1fC", double(skin));
        break;
    case Finding::skinTooCold: {
        Decimal decimal(skin);
        // Skip the space that pads a short number.
        snprintf(text, size, "Skin temperature too low: %sC", decimal.text + (decimal.text[0] == ' '));
        break;
    }
    case Finding::skinBroken:
        snprintf(text, size, "Skin thermistor open or shorted");
        break;
    case Finding::waterBroken:
        snprintf(text, size, "Water thermistor open or shorted");
        break;
    }
}

}
