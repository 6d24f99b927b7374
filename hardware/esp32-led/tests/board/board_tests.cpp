// Tests of the board's code and the main loop against a fake Arduino core, in one run from the start.

#include <string>

#include "../../esp32-led.ino"
#include "checks.h"
#include "fake/core.h"

static const char ledUuid[] = "957312E0-2354-11EB-9F10-FBC30A62CF38";
static const int lampPin = 4;

static FakeCore::Characteristic &characteristic() { return core.characteristics[core.find(ledUuid)]; }

/// Stores a value that a central writes. The BLE library does so immediately, and calls back one connection interval
/// later, from another task.
static void store(const std::string &bytes) {
    core.find(ledUuid)->setValue(reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size());
}

/// Calls back for a write, as the BLE library does.
static void callBack() {
    characteristic().callbacks->onWrite(core.find(ledUuid), static_cast<ble_gap_conn_desc *>(nullptr));
}

/// A central's write, with the turn of the loop that handles it.
static void write(const std::string &bytes) {
    store(bytes);
    callBack();
    loop();
}

/// Sends a line to the board; returns the serial output.
static std::string say(const std::string &line) {
    core.serialInput = line + "\n";
    core.serialOutput.clear();
    loop();
    return core.serialOutput;
}

/// Returns the notifications since the last call, each followed by `|`.
static std::string notified() {
    std::string text = characteristic().notified;
    characteristic().notified.clear();
    return text;
}

static const std::string off("\0", 1);
static const std::string on("\1", 1);
static const std::string notifiedOff("\0|", 2);
static const std::string notifiedOn("\1|", 2);

static void theLampIsOffAtTheStart() {
    setup();
    CHECK(core.pins[lampPin] == LOW);
    CHECK(characteristic().value == off);
    CHECK(
        characteristic().properties ==
        (BLECharacteristic::PROPERTY_READ | BLECharacteristic::PROPERTY_WRITE | BLECharacteristic::PROPERTY_NOTIFY));
    // NimBLE adds the subscription descriptor automatically.
    CHECK(!characteristic().hasSubscriptionDescriptor);
    core.serverCallbacks->onDisconnect(core.server);
    CHECK(core.advertisingStarts == 2);
}

static void aWriteLightsTheLamp() {
    write(on);
    CHECK(core.pins[lampPin] == HIGH);
    CHECK(notified() == notifiedOn);
    CHECK_TEXT(say("LED"), "LED:1\r\n");
    write(on);
    CHECK(notified() == "");
    write(off);
    CHECK(core.pins[lampPin] == LOW);
    CHECK(notified() == notifiedOff);
}

static void aLineSetsTheCharacteristic() {
    CHECK_TEXT(say("LED:1"), "LED:1\r\n");
    CHECK(core.pins[lampPin] == HIGH);
    CHECK(characteristic().value == on);
    CHECK(notified() == notifiedOn);
    CHECK_TEXT(say("LED:1"), "LED:1\r\n");
    CHECK(notified() == "");
    CHECK_TEXT(say("LED:0"), "LED:0\r\n");
    CHECK(characteristic().value == off);
    CHECK(notified() == notifiedOff);
}

static void theValueIsAlwaysZeroOrOne() {
    write("\x37");
    CHECK(core.pins[lampPin] == HIGH);
    CHECK(characteristic().value == on);
    write("\xff");
    CHECK(core.pins[lampPin] == HIGH);
    CHECK(characteristic().value == on);
    for (const std::string &bytes : {std::string(), std::string("\0\0", 2), std::string(300, 'x')}) {
        write(bytes);
        CHECK(core.pins[lampPin] == HIGH);
        CHECK(characteristic().value == on);
    }
    CHECK(notified() == notifiedOn);
    write(off);
    notified();
}

/// A central writes twice within one connection interval.
static void theLastOfTwoWritesWins() {
    store(on);
    callBack();
    store(off);
    loop();
    callBack();
    loop();
    CHECK(core.pins[lampPin] == LOW);
    CHECK(characteristic().value == off);
    notified();
}

/// The second write arrives while the loop sets the lamp for the first.
static void aWriteDuringTheHandlingOfAnotherWins() {
    store(on);
    callBack();
    core.duringDigitalWrite = [] { store(off); };
    loop();
    core.duringDigitalWrite = nullptr;
    callBack();
    loop();
    CHECK(core.pins[lampPin] == LOW);
    CHECK(characteristic().value == off);
    CHECK_TEXT(say("LED"), "LED:0\r\n");
}

int main() {
    theLampIsOffAtTheStart();
    aWriteLightsTheLamp();
    aLineSetsTheCharacteristic();
    theValueIsAlwaysZeroOrOne();
    theLastOfTwoWritesWins();
    aWriteDuringTheHandlingOfAnotherWins();
    return conclude();
}
