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

struct FakeValue : Value {
    size_t read(uint8_t *bytes, size_t size) override {
        content.copy(reinterpret_cast<char *>(bytes), size);
        return content.size();
    }
    void set(uint8_t byte) override {
        content.assign(1, char(byte));
        sets++;
    }
    void notify() override { notified += content + "|"; }

    std::string content = std::string(1, '\0');
    unsigned sets = 0;
    std::string notified;
};

/// The firmware with fakes in place of the board.
struct Bench {
    FakeLamp lamp;
    FakeOutput output;
    FakeValue value;
    Led led{lamp, output, value};

    /// Returns the lines in reply to `bytes`, each followed by `|`.
    std::string say(const std::string &bytes) {
        output.lines.clear();
        for (char byte : bytes) {
            led.receive(byte);
        }
        return output.lines;
    }
};

static void eachKnownLineIsAnswered() {
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

static void aWrittenByteSetsTheLampAndSendsNoLine() {
    Bench bench;
    for (int value = 0; value < 256; value++) {
        bench.value.content.assign(1, char(value));
        bench.led.written();
        CHECK(bench.lamp.lit == (value != 0));
        CHECK_TEXT(bench.value.content, std::string(1, value != 0 ? '\1' : '\0'));
        // Each value but 0 and 1 was replaced by 1.
        CHECK(bench.value.sets == (value < 2 ? 0 : unsigned(value) - 1));
    }
    CHECK_TEXT(bench.output.lines, "");
    CHECK_TEXT(bench.value.notified, "\1|");
}

static void aWriteOfOtherThanOneByteChangesNothing() {
    Bench bench;
    bench.say("LED:1\n");
    for (const std::string &written : {std::string(), std::string("\0\0", 2), std::string(512, 'x')}) {
        bench.value.content = written;
        bench.led.written();
        CHECK(bench.lamp.lit);
        CHECK_TEXT(bench.value.content, "\1");
    }
    CHECK_TEXT(bench.value.notified, "\1|");
}

static void aLineNotifiesOfAChangeOnly() {
    Bench bench;
    bench.say("LED\nLED:0\n");
    CHECK_TEXT(bench.value.notified, "");
    CHECK(bench.value.sets == 0);
    bench.say("LED:1\nLED:1\nLED:0\n");
    CHECK_TEXT(bench.value.notified, std::string("\1|\0|", 4));
}

int main() {
    eachKnownLineIsAnswered();
    otherLinesAreIgnored();
    aWrittenByteSetsTheLampAndSendsNoLine();
    aWriteOfOtherThanOneByteChangesNothing();
    aLineNotifiesOfAChangeOnly();
    return conclude();
}
