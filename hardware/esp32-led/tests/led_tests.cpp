#include "led.h"

#include <string>

#include "checks.h"

struct FakeLamp : Lamp {
    void light(bool isOn) override { lit = isOn; }

    bool lit = false;
};

struct FakeOutput : LineOutput {
    void line(const char *text) override { lines += std::string(text) + "|"; }

    std::string lines;
};

struct Bench {
    FakeLamp lamp;
    FakeOutput output;
    Led led{lamp, output};

    /// What is answered to `bytes`.
    std::string say(const std::string &bytes) {
        output.lines.clear();
        for (char byte : bytes) {
            led.receive(byte);
        }
        return output.lines;
    }
};

static void aLineSetsOrAsksAndIsAnswered() {
    Bench bench;
    CHECK_TEXT(bench.say("LED\n"), "LED:0|");
    CHECK_TEXT(bench.say("LED:1\n"), "LED:1|");
    CHECK(bench.lamp.lit);
    CHECK_TEXT(bench.say("LED\r\n"), "LED:1|");
    CHECK_TEXT(bench.say("LED:0\rLED:1\rLED:0\r"), "LED:0|LED:1|LED:0|");
    CHECK(!bench.lamp.lit);
}

static void otherLinesAreIgnored() {
    Bench bench;
    bench.say("LED:1\n");
    for (const char *line : {"", "LED:", "LED:2", "LED:01", "led", "LED ", " LED", "LED:1 ", "GET_LOG"}) {
        CHECK_TEXT(bench.say(std::string(line) + "\n"), "");
    }
    CHECK_TEXT(bench.say(std::string(500, 'X') + "LED\n"), "");
    CHECK_TEXT(bench.say(std::string("LED\0x\n", 6)), "LED:1|");
    CHECK_TEXT(bench.say("LED\n"), "LED:1|");
}

static void aByteSetsWithoutALine() {
    Bench bench;
    for (int value = 0; value < 256; value++) {
        bench.led.write(uint8_t(value));
        CHECK(bench.lamp.lit == (value != 0));
        CHECK(bench.led.value() == (value != 0 ? 1 : 0));
    }
    CHECK_TEXT(bench.output.lines, "");
}

int main() {
    aLineSetsOrAsksAndIsAnswered();
    otherLinesAreIgnored();
    aByteSetsWithoutALine();
    return conclude();
}
