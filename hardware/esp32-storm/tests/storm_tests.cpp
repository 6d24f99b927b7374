#include "storm.h"

#include <cstring>
#include <string>

#include "checks.h"
#include "log_partition_tests.h"

struct FakeStore : LogStore {
    size_t size() override { return text.size(); }
    size_t read(size_t offset, char *bytes, size_t length) override {
        return offset < text.size() ? text.copy(bytes, length, offset) : 0;
    }
    void append(const char *bytes, size_t length) override { text.append(bytes, length); }

    std::string text;
};

/// An output that accepts `limit` bytes in each step; if it has packets, one packet of at most `limit` bytes, which it
/// records with a `|` after it.
struct FakeOutput : Output {
    explicit FakeOutput(size_t limit, bool isPackets = false) : limit(limit), left(limit), packets(isPackets) {}

    size_t room() override { return left; }
    void write(const char *bytes, size_t length) override {
        CHECK(length <= left);
        text.append(bytes, length);
        if (packets) {
            text += "|";
        }
        left = packets ? 0 : left - length;
    }

    size_t limit;
    size_t left;
    bool packets;
    std::string text;
};

/// The firmware with fakes in place of the board. `lineRoom` is the serial line's room in each step; `mtu` is the
/// payload of a BLE packet, 0 while no central is connected.
struct Bench {
    explicit Bench(size_t lineRoom = 1000, size_t mtu = 0) : line(lineRoom), ble(mtu, true) {}

    void say(const std::string &bytes) {
        for (char byte : bytes) {
            storm.receive(byte);
        }
    }
    void sayPacket(const std::string &bytes) { storm.receivePacket(bytes.data(), bytes.size()); }
    void step(int count = 1) {
        while (count-- > 0) {
            line.left = line.limit;
            ble.left = ble.limit;
            storm.step();
        }
    }
    void measure(float value) {
        char row[Channel::rowLimit];
        storm.measured({1, 2, 3, value}, row);
        lastRow = row;
    }

    FakeStore store;
    FakeOutput line;
    FakeOutput ble;
    Storm storm{store, line, ble};
    std::string lastRow;
};

static void theLogFollowsItsPrefix() {
    Bench bench;
    bench.store.text = "1 2 3 4.5\n6 7 8 9\n";
    bench.say("GET_LOG\n");
    bench.step();
    CHECK_TEXT(bench.line.text, "LOG Values: 1 2 3 4.5\n6 7 8 9\n");
    bench.step(5);
    CHECK_TEXT(bench.line.text, "LOG Values: 1 2 3 4.5\n6 7 8 9\n");
}

static void anEmptyLogIsALineWithThePrefix() {
    Bench bench;
    bench.say("GET_LOG\r\n");
    bench.step(3);
    CHECK_TEXT(bench.line.text, "LOG Values: \r\n");
}

static void otherCommandsAreIgnored() {
    Bench bench;
    bench.say("GET_LO\nGET_LOGS\nget_log\n GET_LOG\n\r\n" + std::string(99, 'X') + "GET_LOG\n");
    bench.step(3);
    CHECK_TEXT(bench.line.text, "");
}

static void aLogIsSentWholeWhateverTheRoom() {
    for (size_t room : {13, 14, 40, 128, 511, 512, 513, 2000}) {
        Bench bench(room);
        for (int row = 0; row < 500; row++) {
            bench.store.text += std::to_string(row * 7919) + " 2 3 4.50\n";
        }
        bench.say("GET_LOG\n");
        bench.step(2000);
        CHECK(bench.line.text == "LOG Values: " + bench.store.text);
    }
}

static void aMeasurementIsStoredAndSent() {
    Bench bench(1000, 100);
    bench.measure(4.5f);
    bench.step();
    CHECK_TEXT(bench.store.text, "1 2 3 4.50\n");
    CHECK_TEXT(bench.line.text, "LIVE LOG: 1 2 3 4.50\r\n");
    CHECK_TEXT(bench.ble.text, "LIVE LOG: 1 2 3 4.50|");
    CHECK_TEXT(bench.lastRow, "1 2 3 4.50");
}

static void aLiveRowStandsBetweenRowsOfTheLogAndIsNotInIt() {
    Bench bench(16);
    bench.store.text = "1 1 1 1111.11\n2 2 2 2222.22\n3 3 3 3333.33\n";
    std::string log = bench.store.text;
    bench.say("GET_LOG\n");
    bench.step();
    bench.line.limit = 60;
    bench.measure(4);
    bench.step(20);
    CHECK_TEXT(bench.line.text, "LOG Values: 1 1 1 1111.11\nLIVE LOG: 1 2 3 4.00\r\n2 2 2 2222.22\n3 3 3 3333.33\n");
    CHECK_TEXT(bench.store.text, log + "1 2 3 4.00\n");
}

static void aRepeatedCommandStartsTheLogAgainOnANewLine() {
    Bench bench(20);
    bench.store.text = "1 1 1 1.11\n2 2 2 2.22\n";
    bench.say("GET_LOG\n");
    bench.step();
    bench.say("GET_LOG\n");
    bench.line.limit = 1000;
    bench.step(3);
    CHECK_TEXT(bench.line.text, "LOG Values: 1 1 1 1.\r\nLOG Values: 1 1 1 1.11\n2 2 2 2.22\n");
}

static void theLogFillsEachPacket() {
    Bench bench(1000, 20);
    bench.store.text = "1 1 1 1.11\n2 2 2 2.22\n3 3 3 3.33\n";
    bench.sayPacket("GET_LOG");
    bench.step();
    bench.measure(4);
    bench.step(10);
    CHECK_TEXT(bench.ble.text, "LOG Values: 1 1 1 1.|LIVE LOG: 1 2 3 4.00|11\n2 2 2 2.22\n3 3 3 |3.33\n|");
}

static void aLiveRowLongerThanAPacketIsDropped() {
    Bench bench(1000, 20);
    bench.measure(444);
    bench.measure(4);
    bench.step(3);
    CHECK_TEXT(bench.ble.text, "LIVE LOG: 1 2 3 4.00|");
}

static void aCommandInAPacketMayHaveALineEnd() {
    Bench bench(1000, 100);
    bench.sayPacket("GET_LOG\r\n");
    bench.sayPacket("GET_LOG2");
    bench.step(2);
    CHECK_TEXT(bench.ble.text, "LOG Values: |");
}

static void aChangeOfTheCentralEndsTheLog() {
    Bench bench(1000, 20);
    bench.store.text = std::string(100, 'x');
    bench.sayPacket("GET_LOG");
    bench.step();
    bench.storm.centralChanged();
    bench.ble.text.clear();
    bench.step(10);
    CHECK_TEXT(bench.ble.text, "");
}

static void waitingLiveRowsAreBounded() {
    Bench bench(0);
    for (int i = 0; i < 1000; i++) {
        bench.measure(float(i));
    }
    bench.line.limit = 100000;
    bench.step(3);
    CHECK(bench.line.text.size() <= Channel::waitingLimit);
    CHECK(bench.line.text.find("LIVE LOG: 1 2 3 0.00\r\nLIVE LOG: 1 2 3 1.00\r\n") == 0);
}

static void valuesOfAnySizeAreWritten() {
    Bench bench;
    bench.measure(-3.4e38f);
    CHECK(bench.lastRow.size() == 6 + 43);
    bench.measure(0.0f / 1.0f);
    CHECK_TEXT(bench.lastRow, "1 2 3 0.00");
}

int main() {
    theLogFollowsItsPrefix();
    anEmptyLogIsALineWithThePrefix();
    otherCommandsAreIgnored();
    aLogIsSentWholeWhateverTheRoom();
    aMeasurementIsStoredAndSent();
    aLiveRowStandsBetweenRowsOfTheLogAndIsNotInIt();
    aRepeatedCommandStartsTheLogAgainOnANewLine();
    theLogFillsEachPacket();
    aLiveRowLongerThanAPacketIsDropped();
    aCommandInAPacketMayHaveALineEnd();
    aChangeOfTheCentralEndsTheLog();
    waitingLiveRowsAreBounded();
    valuesOfAnySizeAreWritten();
    testLogPartition();
    return conclude();
}
