#include "checks.h"
#include "fakes.h"
#include "thermistor.h"

static const uint32_t minute = 60000;
/// The potentiometer where it stands for the start speed, so that it keeps still.
static const uint16_t atStartSpeed = 716;

static uint16_t readingAbove(float celsius) {
    uint16_t reading = 1;
    while (thermistorCelsius(reading) <= celsius) {
        reading++;
    }
    return reading;
}

/// A controller with everything around it.
struct Bench {
    explicit Bench(Thermistors thermistors = Thermistors::waterAndSkin) : controller(motor, output, thermistors) {}

    /// One turn, after the bytes have been offered to the command line; joins the lines it prints with `|`.
    std::string turn(const std::string &bytes = "") {
        waiting += bytes;
        while (!waiting.empty() && commandLine.receive(waiting[0])) {
            waiting.erase(0, 1);
        }
        output.lines.clear();
        controller.turn(inputs, button, commandLine);
        inputs.now += 150;
        std::string joined;
        for (const std::string &line : output.lines) {
            joined += (joined.empty() ? "" : "|") + line;
        }
        return joined;
    }

    std::string press() {
        for (bool down : {false, true, false}) {
            for (int millisecond = 0; millisecond < 100; millisecond++) {
                button.sample(down, inputs.now++);
            }
        }
        return turn();
    }

    FakeMotor motor;
    FakeOutput output;
    Button button;
    CommandLine commandLine;
    Controller controller;
    Inputs inputs = {1300, readingAbove(12), readingAbove(34.4f), atStartSpeed};
    std::string waiting;
};

static void answersEachCommand() {
    Bench bench;
    CHECK_TEXT(bench.turn(), "");
    CHECK_TEXT(bench.turn("OFF\n"), "OK|PUMP:OFF");
    CHECK(bench.motor.rests());
    CHECK_TEXT(bench.turn("on\r\n"), "OK|PUMP:ON");
    CHECK(bench.motor.runs(180));
    CHECK_TEXT(bench.turn("Speed:200\n"), "OK|SPEED:200");
    CHECK(bench.motor.runs(200));
    CHECK_TEXT(bench.turn("SPEED:0\n"), "OK|SPEED:0");
    CHECK(bench.motor.runs(0));
    CHECK_TEXT(bench.turn("STATUS\n").substr(0, 51), "STATUS:{State:ON,Speed:0%,Runtime:0m,Remaining:29m,");
    CHECK_TEXT(bench.turn("TEMP\n").substr(0, 12), "TEMP:{Water:");
    CHECK_TEXT(bench.turn("ON\n"), "OK|PUMP:ON");
    CHECK(bench.motor.runs(180));
    CHECK_TEXT(bench.turn("OFF\n"), "OK|PUMP:OFF");
    CHECK(bench.motor.rests());
}

static void saysWhatIsWrong() {
    Bench bench;
    CHECK_TEXT(bench.turn("FROB\n"), "ERROR:UNKNOWN_COMMAND");
    CHECK_TEXT(bench.turn(" ON\n"), "ERROR:UNKNOWN_COMMAND");
    CHECK_TEXT(bench.turn("SPEED:100\n"), "ERROR:PUMP_NOT_RUNNING");
    CHECK_TEXT(bench.turn("SPEED:999\n"), "ERROR:PUMP_NOT_RUNNING");
    bench.turn("ON\n");
    CHECK_TEXT(bench.turn("SPEED:256\n"), "ERROR:INVALID_SPEED_VALUE");
    CHECK_TEXT(bench.turn("SPEED:-1\n"), "ERROR:INVALID_SPEED_VALUE");
    CHECK_TEXT(bench.turn("SPEED:65536\n"), "ERROR:INVALID_SPEED_VALUE");
    CHECK(bench.motor.runs(180));
    CHECK_TEXT(bench.turn("SPEED:abc\n"), "OK|SPEED:0");
}

static void handlesOneCommandATurn() {
    Bench bench;
    CHECK_TEXT(bench.turn("ON\nOFF\nTEMP\n"), "OK|PUMP:ON");
    CHECK_TEXT(bench.turn(), "OK|PUMP:OFF");
    CHECK_TEXT(bench.turn().substr(0, 5), "TEMP:");
    CHECK_TEXT(bench.turn(), "");
}

static void anOverflowTakesATurnOfItsOwn() {
    Bench bench;
    CHECK_TEXT(bench.turn(std::string(70, 'X') + "\n"), "ERROR:CMD_TOO_LONG");
    CHECK_TEXT(bench.turn(), "ERROR:UNKNOWN_COMMAND");
    CHECK_TEXT(bench.turn(), "");
}

static void oneThermistorFirmwareHasItsOwnLines() {
    Bench bench(Thermistors::skin);
    CHECK_TEXT(bench.turn("STATUS\n").substr(0, 23), "STATUS:{State:OFF,Temp:");
    CHECK_TEXT(bench.turn("TEMP\n").substr(0, 6), "TEMP:3");
}

static void reportsEveryFiveSecondsWhileOn() {
    Bench bench;
    bench.inputs.now = UINT32_MAX - 7000;
    bench.turn("ON\n");
    uint32_t begin = bench.inputs.now - 150;
    unsigned reports = 0;
    while (bench.inputs.now - begin < 30600) {
        std::string said = bench.turn();
        reports += said.compare(0, 16, "STATUS:{State:ON") == 0;
    }
    CHECK(reports == 6);
    bench.turn("OFF\n");
    bench.inputs.now += 10000;
    CHECK_TEXT(bench.turn(), "");
}

static void aRestartDoesNotPutOffTheReport() {
    Bench bench;
    bench.turn("ON\n");
    bench.inputs.now += 3000;
    CHECK_TEXT(bench.turn("ON\n"), "OK|PUMP:ON");
    bench.inputs.now += 2000;
    CHECK_TEXT(bench.turn().substr(0, 7), "STATUS:");
}

static void stopsAfterThirtyMinutes() {
    Bench bench;
    bench.inputs.now = UINT32_MAX - 10 * minute;
    uint32_t start = bench.inputs.now;
    bench.turn("ON\n");
    bench.inputs.now = start + 30 * minute - 1;
    bench.turn();
    CHECK(bench.motor.runs(180));
    bench.inputs.now = start + 30 * minute;
    CHECK_TEXT(bench.turn(), "ERROR:SAFETY_SHUTOFF|Maximum runtime exceeded");
    CHECK(bench.motor.rests());
    CHECK_TEXT(bench.turn("ON\n"), "ERROR:PUMP_START_FAILED");
    CHECK_TEXT(bench.turn("SPEED:9\n"), "ERROR:PUMP_NOT_RUNNING");
    CHECK_TEXT(bench.turn("STATUS\n").substr(0, 19), "STATUS:{State:ERROR");
    CHECK(bench.motor.rests());
    CHECK_TEXT(bench.turn("OFF\n"), "OK|PUMP:OFF");
    CHECK_TEXT(bench.turn("ON\n"), "OK|PUMP:ON");
}

static void onRestartsTheRunTimer() {
    Bench bench;
    bench.turn("ON\n");
    bench.inputs.now += 20 * minute;
    bench.turn("ON\n");
    bench.inputs.now += 20 * minute;
    CHECK(bench.turn().compare(0, 16, "STATUS:{State:ON") == 0);
    bench.inputs.now += 10 * minute;
    CHECK_TEXT(bench.turn(), "ERROR:SAFETY_SHUTOFF|Maximum runtime exceeded");
}

static void stopsOnHotSkinWhileOn() {
    Bench bench;
    uint16_t tooHot = readingAbove(40);
    bench.inputs.skin = tooHot;
    CHECK_TEXT(bench.turn(), "");
    bench.inputs.skin = tooHot - 1;
    bench.turn("ON\n");
    CHECK_TEXT(bench.turn(), "");
    CHECK(bench.motor.runs(180));
    bench.inputs.skin = tooHot;
    CHECK_TEXT(bench.turn().substr(0, 45), "ERROR:OVERHEAT|Skin temperature too high: 40.");
    CHECK(bench.motor.rests());
    bench.inputs.skin = readingAbove(30);
    CHECK_TEXT(bench.turn("ON\n"), "ERROR:PUMP_START_FAILED");
    CHECK_TEXT(bench.turn("OFF\n"), "OK|PUMP:OFF");
}

static void hotWaterIsNoFault() {
    Bench bench;
    bench.inputs.water = readingAbove(60);
    bench.turn("ON\n");
    CHECK_TEXT(bench.turn(), "");
    CHECK(bench.motor.runs(180));
}

static void aBrokenSkinThermistorDoesNotStopThePump() {
    Bench bench;
    for (uint16_t reading : {0, 1, 1023}) {
        bench.inputs.skin = reading;
        bench.turn("ON\n");
        CHECK_TEXT(bench.turn(), "");
        CHECK(bench.motor.runs(180));
    }
}

static void theButtonToggles() {
    Bench bench;
    CHECK_TEXT(bench.press(), "MANUAL:ON");
    CHECK(bench.motor.runs(180));
    CHECK_TEXT(bench.press(), "MANUAL:OFF");
    CHECK(bench.motor.rests());
}

static void theButtonLeavesTheErrorState() {
    Bench bench;
    bench.turn("ON\n");
    bench.inputs.now += 30 * minute;
    bench.turn();
    CHECK_TEXT(bench.press(), "MANUAL:OFF");
    CHECK(bench.motor.rests());
    CHECK_TEXT(bench.turn("STATUS\n").substr(0, 17), "STATUS:{State:OFF");
    CHECK_TEXT(bench.press(), "MANUAL:ON");
}

static void thePotentiometerSetsTheSpeedWhileOn() {
    Bench bench;
    bench.inputs.potentiometer = 1023;
    bench.turn();
    CHECK(!bench.motor.runs(255));
    bench.turn("ON\n");
    CHECK(bench.motor.runs(180));
    CHECK_TEXT(bench.turn(), "");
    CHECK(bench.motor.runs(255));
    bench.turn("SPEED:40\n");
    bench.turn();
    CHECK(bench.motor.runs(40));
    bench.inputs.potentiometer = 0;
    bench.turn();
    CHECK(bench.motor.runs(0));
    bench.turn("ON\n");
    bench.turn();
    CHECK(bench.motor.runs(180));
}

void checkController() {
    answersEachCommand();
    saysWhatIsWrong();
    handlesOneCommandATurn();
    anOverflowTakesATurnOfItsOwn();
    oneThermistorFirmwareHasItsOwnLines();
    reportsEveryFiveSecondsWhileOn();
    aRestartDoesNotPutOffTheReport();
    stopsAfterThirtyMinutes();
    onRestartsTheRunTimer();
    stopsOnHotSkinWhileOn();
    hotWaterIsNoFault();
    aBrokenSkinThermistorDoesNotStopThePump();
    theButtonToggles();
    theButtonLeavesTheErrorState();
    thePotentiometerSetsTheSpeedWhileOn();
}
