#include <cmath>

#include "checks.h"
#include "fakes.h"
#include "status_text.h"

static const uint32_t minute = 60000;

static std::string status(const Pump &pump, uint32_t now, Thermistors thermistors, Temperatures temperatures) {
    char text[StatusText::size];
    StatusText::status(text, pump, now, thermistors, temperatures);
    return text;
}

static std::string temperature(Thermistors thermistors, Temperatures temperatures) {
    char text[StatusText::size];
    StatusText::temperature(text, thermistors, temperatures);
    return text;
}

static void theStatusWhileOnHasSpeedAndTimes() {
    FakeMotor motor;
    Pump pump(motor);
    pump.start(7);
    CHECK_TEXT(status(pump, 7 + 5 * minute, Thermistors::waterAndSkin, {12.0f, 34.5f}),
               "STATUS:{State:ON,Speed:70%,Runtime:5m,Remaining:25m,WaterTemp:12.0C,SkinTemp:34.5C}");
    CHECK_TEXT(status(pump, 7 + 5 * minute, Thermistors::skin, {0, 34.5f}),
               "STATUS:{State:ON,Speed:70%,Runtime:5m,Remaining:25m,Temp:34.5C}");
}

static void minutesAreTruncated() {
    FakeMotor motor;
    Pump pump(motor);
    pump.start(0);
    pump.setSpeed(255);
    CHECK_TEXT(status(pump, 0, Thermistors::skin, {0, 30}), "STATUS:{State:ON,Speed:100%,Runtime:0m,Remaining:30m,Temp:30.0C}");
    CHECK_TEXT(status(pump, 1, Thermistors::skin, {0, 30}), "STATUS:{State:ON,Speed:100%,Runtime:0m,Remaining:29m,Temp:30.0C}");
    CHECK_TEXT(status(pump, 30 * minute - 1, Thermistors::skin, {0, 30}),
               "STATUS:{State:ON,Speed:100%,Runtime:29m,Remaining:0m,Temp:30.0C}");
}

static void otherwiseTheStatusHasTemperaturesOnly() {
    FakeMotor motor;
    Pump pump(motor);
    CHECK_TEXT(status(pump, 0, Thermistors::waterAndSkin, {12.0f, 34.5f}), "STATUS:{State:OFF,WaterTemp:12.0C,SkinTemp:34.5C}");
    CHECK_TEXT(status(pump, 0, Thermistors::skin, {12.0f, 34.5f}), "STATUS:{State:OFF,Temp:34.5C}");
    pump.fail();
    CHECK_TEXT(status(pump, 0, Thermistors::waterAndSkin, {12.0f, 41.0f}),
               "STATUS:{State:ERROR,WaterTemp:12.0C,SkinTemp:41.0C}");
}

static void temperaturesAreAtLeastFourCharactersWide() {
    CHECK_TEXT(temperature(Thermistors::skin, {0, 34.5f}), "TEMP:34.5");
    CHECK_TEXT(temperature(Thermistors::waterAndSkin, {12.0f, 34.5f}), "TEMP:{Water:12.0C,Skin:34.5C}");
    CHECK_TEXT(temperature(Thermistors::waterAndSkin, {9.5f, -1.25f}), "TEMP:{Water: 9.5C,Skin:-1.2C}");
    CHECK_TEXT(temperature(Thermistors::skin, {0, -80.04f}), "TEMP:-80.0");
    CHECK_TEXT(temperature(Thermistors::skin, {0, -273.15f}), "TEMP:-273.1");
}

static void theLongestLineFits() {
    FakeMotor motor;
    Pump pump(motor);
    pump.start(0);
    pump.setSpeed(255);
    std::string text = status(pump, 0, Thermistors::waterAndSkin, {-12345.6f, -12345.6f});
    CHECK(text.size() + 1 < StatusText::size);
    CHECK(text.back() == '}');
    CHECK_TEXT(temperature(Thermistors::waterAndSkin, {NAN, INFINITY}), "TEMP:{Water: nanC,Skin: infC}");
}

static std::string finding(Finding finding, float skin) {
    char text[StatusText::size];
    StatusText::finding(text, finding, skin);
    return text;
}

static void eachFindingHasATextOfItsOwn() {
    CHECK_TEXT(finding(Finding::skinTooHot, 41.2f), "Skin temperature too high: 41.2C");
    CHECK_TEXT(finding(Finding::skinTooCold, 8.2f), "Skin temperature too low: 8.2C");
    CHECK_TEXT(finding(Finding::skinBroken, -273.1f), "Skin thermistor open or shorted");
    CHECK_TEXT(finding(Finding::waterBroken, 34.0f), "Water thermistor open or shorted");
    CHECK_TEXT(finding(Finding::nothing, 34.0f), "");
}

void checkStatusText() {
    theStatusWhileOnHasSpeedAndTimes();
    minutesAreTruncated();
    otherwiseTheStatusHasTemperaturesOnly();
    temperaturesAreAtLeastFourCharactersWide();
    theLongestLineFits();
    eachFindingHasATextOfItsOwn();
}
