#include "checks.h"
#include "fakes.h"
#include "thermistor.h"

static const uint32_t minute = 60000;
/// The potentiometer's reading at the start speed, which reports no movement.
static const uint16_t atStartSpeed = 716;

/// The lowest reading of more than `celsius` degrees.
static uint16_t readingAbove(float celsius) {
    uint16_t reading = 1;
    while (thermistorCelsius(reading) <= celsius) {
        reading++;
    }
    return reading;
}

/// A controller with its fake board.
struct Bench {
    explicit Bench(Thermistors thermistors = Thermistors::waterAndSkin, Policy policy = Policy::safe)
        : controller(motor, output, thermistors, policy, {10, 40}) {}

    /// Offers the bytes to the command line, then runs one turn; returns the printed lines joined with `|`.
    std::string turn(const std::string &bytes = "") {
        waiting += bytes;
        while (!waiting.empty() && commandLine.receive(waiting[0])) {
            waiting.erase(0, 1);
        }
        output.lines.clear();
        handled = controller.turn(inputs, button, commandLine);
        inputs.now += handled ? 159 : 109;
        std::string joined;
        for (const std::string &line : output.lines) {
            joined += (joined.empty() ? "" : "|") + line;
        }
        return joined;
    }

    /// Presses and releases the button, then runs one turn; returns its lines.
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
    /// Whether the last turn handled a command.
    bool handled = false;
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

static void reportsInvalidCommands() {
    Bench bench;
    CHECK_TEXT(bench.turn("FROB\n"), "ERROR:UNKNOWN_COMMAND");
    CHECK_TEXT(bench.turn(" ON\n"), "ERROR:UNKNOWN_COMMAND");
    CHECK_TEXT(bench.turn("SPEED:100\n"), "ERROR:PUMP_NOT_RUNNING");
    CHECK_TEXT(bench.turn("SPEED:256\n"), "ERROR:INVALID_SPEED_VALUE");
    CHECK_TEXT(bench.turn("SPEED:-1\n"), "ERROR:INVALID_SPEED_VALUE");
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
    CHECK(bench.handled);
    CHECK_TEXT(bench.turn(), "OK|PUMP:OFF");
    CHECK(bench.handled);
    CHECK_TEXT(bench.turn().substr(0, 5), "TEMP:");
    CHECK(bench.handled);
    CHECK_TEXT(bench.turn(), "");
    CHECK(!bench.handled);
}

static void anOverflowTakesATurnOfItsOwn() {
    Bench bench;
    CHECK_TEXT(bench.turn(std::string(70, 'X') + "\n"), "ERROR:CMD_TOO_LONG");
    CHECK(bench.handled);
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
    uint32_t begin = bench.inputs.now;
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

static void theReportKeepsTheBeatOfTheBoot() {
    Bench bench;
    bench.inputs.now = 4999;
    CHECK_TEXT(bench.turn("ON\n"), "OK|PUMP:ON");
    CHECK(bench.turn().compare(0, 16, "STATUS:{State:ON") == 0);
    bench.inputs.now = 9999;
    CHECK_TEXT(bench.turn("ON\n"), "OK|PUMP:ON");
    bench.inputs.now = 10000;
    CHECK(bench.turn().compare(0, 16, "STATUS:{State:ON") == 0);
    // The beat continues while the pump is off, but sends nothing.
    bench.turn("OFF\n");
    bench.inputs.now = 15050;
    CHECK_TEXT(bench.turn(), "");
    CHECK_TEXT(bench.turn("ON\n"), "OK|PUMP:ON");
    bench.inputs.now = 19999;
    CHECK_TEXT(bench.turn(), "");
    bench.inputs.now = 20000;
    CHECK(bench.turn().compare(0, 16, "STATUS:{State:ON") == 0);
}

static void aReportCanPrecedeTheReplyToOn() {
    Bench bench;
    bench.turn("ON\n");
    bench.inputs.now = 5000;
    std::string said = bench.turn("ON\n");
    CHECK(said.compare(0, 16, "STATUS:{State:ON") == 0);
    CHECK(said.size() > 11 && said.compare(said.size() - 11, 11, "|OK|PUMP:ON") == 0);
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
    CHECK_TEXT(bench.turn("SPEED:300\n"), "ERROR:INVALID_SPEED_VALUE");
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

static void inTheFieldOneHotReadingStopsThePump() {
    Bench bench(Thermistors::waterAndSkin, Policy::field);
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

static void inTheFieldABrokenSkinThermistorStopsNothing() {
    Bench bench(Thermistors::waterAndSkin, Policy::field);
    for (uint16_t reading : {0, 1, 1023}) {
        bench.inputs.skin = reading;
        bench.turn("ON\n");
        CHECK_TEXT(bench.turn(), "");
        CHECK(bench.motor.runs(180));
    }
}

/// Runs turns until the pump stops, with `bytes` received before each turn; returns the lines of the last turn.
static std::string untilItStops(Bench &bench, unsigned &turns, const std::string &bytes = "") {
    std::string said;
    for (turns = 0; bench.motor.enabled && turns < 20; turns++) {
        said = bench.turn(bytes);
    }
    return said;
}

static void aThermistorFaultStopsThePumpWithinASecond() {
    struct Case {
        uint16_t water;
        uint16_t skin;
        std::string text;
    };
    uint16_t water = readingAbove(12);
    uint16_t skin = readingAbove(34);
    for (const Case &fault : {
             Case{water, readingAbove(40), "Skin temperature too high: 40."},
             Case{water, uint16_t(readingAbove(9.5f) - 1), "Skin temperature too low: 9."},
             Case{water, 0, "Skin thermistor open or shorted"},
             Case{water, 1023, "Skin thermistor open or shorted"},
             Case{0, skin, "Water thermistor open or shorted"},
             Case{1023, skin, "Water thermistor open or shorted"},
         }) {
        Bench bench;
        bench.turn("ON\n");
        bench.turn();
        bench.inputs.water = fault.water;
        bench.inputs.skin = fault.skin;
        uint32_t begin = bench.inputs.now;
        unsigned turns;
        std::string wanted = "ERROR:OVERHEAT|" + fault.text;
        CHECK_TEXT(untilItStops(bench, turns).substr(0, wanted.size()), wanted);
        CHECK(turns == 3);
        CHECK(bench.inputs.now - begin < 1000);
        bench.inputs = {bench.inputs.now, water, skin, atStartSpeed};
        CHECK_TEXT(bench.turn("ON\n"), "ERROR:PUMP_START_FAILED");
        CHECK_TEXT(bench.turn("STATUS\n").substr(0, 19), "STATUS:{State:ERROR");
        CHECK_TEXT(bench.turn("OFF\n"), "OK|PUMP:OFF");
        CHECK_TEXT(bench.turn("ON\n"), "OK|PUMP:ON");
        CHECK_TEXT(bench.turn(), "");
        CHECK(bench.motor.runs(180));

        // Commands that keep the controller busy must not delay the stop.
        bench.inputs.water = fault.water;
        bench.inputs.skin = fault.skin;
        begin = bench.inputs.now;
        CHECK(untilItStops(bench, turns, "TEMP\n").find(wanted) != std::string::npos);
        CHECK(turns == 3);
        CHECK(bench.inputs.now - begin < 1000);
    }
}

static void withAFaultThePumpDoesNotStart() {
    Bench bench;
    bench.turn("OFF\n");
    uint16_t sound = bench.inputs.skin;
    bench.inputs.skin = 0;
    for (int turn = 0; turn < 3; turn++) {
        CHECK_TEXT(bench.turn(), "");
    }
    CHECK_TEXT(bench.turn("ON\n"), "ERROR:OVERHEAT|Skin thermistor open or shorted|ERROR:PUMP_START_FAILED");
    CHECK(bench.motor.rests());
    CHECK_TEXT(bench.turn("STATUS\n").substr(0, 19), "STATUS:{State:ERROR");
    CHECK_TEXT(bench.turn("ON\n"), "ERROR:PUMP_START_FAILED");
    CHECK_TEXT(bench.turn("OFF\n"), "OK|PUMP:OFF");
    CHECK_TEXT(bench.press(), "ERROR:OVERHEAT|Skin thermistor open or shorted");
    CHECK(bench.motor.rests());
    CHECK_TEXT(bench.press(), "MANUAL:OFF");
    bench.inputs.skin = sound;
    CHECK_TEXT(bench.turn("ON\n"), "OK|PUMP:ON");
    CHECK_TEXT(bench.turn(), "");
    CHECK(bench.motor.runs(180));
}

static void withAFaultAtTheStartThePumpNeverRuns() {
    for (uint16_t reading : {uint16_t(0), uint16_t(1023), readingAbove(5), readingAbove(45)}) {
        Bench bench;
        uint16_t sound = bench.inputs.skin;
        bench.inputs.skin = reading;
        for (int count = 0; count < 3; count++) {
            bench.controller.observe(bench.inputs);
        }
        std::string said = bench.turn("ON\n");
        CHECK_TEXT(said.substr(0, 15), "ERROR:OVERHEAT|");
        CHECK_TEXT(said.substr(said.rfind('|') + 1), "ERROR:PUMP_START_FAILED");
        CHECK(bench.motor.rests());
        bench.inputs.skin = sound;
        bench.turn("OFF\n");
        CHECK_TEXT(bench.turn("ON\n"), "OK|PUMP:ON");
    }
}

static void withSoundReadingsAtTheStartThePumpStarts() {
    Bench bench;
    for (int count = 0; count < 3; count++) {
        bench.controller.observe(bench.inputs);
    }
    CHECK(bench.output.lines.empty());
    CHECK_TEXT(bench.turn("ON\n"), "OK|PUMP:ON");
    CHECK(bench.motor.runs(180));
}

static void inTheFieldAHotPumpStartsAndStops() {
    Bench bench(Thermistors::waterAndSkin, Policy::field);
    bench.inputs.skin = readingAbove(41);
    bench.turn();
    CHECK_TEXT(bench.turn("ON\n"), "OK|PUMP:ON");
    CHECK_TEXT(bench.turn().substr(0, 15), "ERROR:OVERHEAT|");
    CHECK(bench.motor.rests());
}

static void oneBadReadingInThreeStopsNothing() {
    Bench bench;
    uint16_t sound = bench.inputs.skin;
    bench.turn("ON\n");
    for (int turn = 0; turn < 12; turn++) {
        bench.inputs.skin = turn % 3 == 0 ? (turn % 2 == 0 ? 0 : 1000) : sound;
        bench.turn();
        CHECK(bench.motor.runs(180));
    }
}

static void aBoardWithoutAWaterThermistorIgnoresItsPin() {
    Bench bench(Thermistors::skin);
    bench.inputs.water = 0;
    bench.turn("ON\n");
    for (int turn = 0; turn < 6; turn++) {
        bench.turn();
    }
    CHECK(bench.motor.runs(180));
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
    reportsInvalidCommands();
    handlesOneCommandATurn();
    anOverflowTakesATurnOfItsOwn();
    oneThermistorFirmwareHasItsOwnLines();
    reportsEveryFiveSecondsWhileOn();
    theReportKeepsTheBeatOfTheBoot();
    aReportCanPrecedeTheReplyToOn();
    stopsAfterThirtyMinutes();
    onRestartsTheRunTimer();
    inTheFieldOneHotReadingStopsThePump();
    hotWaterIsNoFault();
    inTheFieldABrokenSkinThermistorStopsNothing();
    aThermistorFaultStopsThePumpWithinASecond();
    withAFaultThePumpDoesNotStart();
    withAFaultAtTheStartThePumpNeverRuns();
    withSoundReadingsAtTheStartThePumpStarts();
    inTheFieldAHotPumpStartsAndStops();
    oneBadReadingInThreeStopsNothing();
    aBoardWithoutAWaterThermistorIgnoresItsPin();
    theButtonToggles();
    theButtonLeavesTheErrorState();
    thePotentiometerSetsTheSpeedWhileOn();
}
