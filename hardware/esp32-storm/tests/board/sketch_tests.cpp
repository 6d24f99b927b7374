// Tests of the sketch's setup() and loop() against a fake Arduino core, in one run from the start.

#include "sketch_tests.h"

#include <string>

#include "../../esp32-storm.ino"
#include "central.h"
#include "checks.h"
#include "fake/core.h"

/// Runs turns of the loop until `milliseconds` have passed; each turn takes at least one millisecond.
static void run(uint32_t milliseconds) {
    uint32_t end = core.milliseconds + milliseconds;
    for (uint32_t turn = 0; turn < milliseconds && core.milliseconds < end; turn++) {
        loop();
    }
    CHECK(core.milliseconds >= end);
}

/// Returns the serial output since the last call.
static std::string said() {
    std::string text = core.serialOutput;
    core.serialOutput.clear();
    return text;
}

/// Returns the stored log.
static std::string stored() { return core.files["/log.txt"]; }

static void itMeasuresOnceASecond() {
    run(1000);
    CHECK_TEXT(said() + stored(), "");
    loop();
    CHECK_TEXT(said(), "LIVE LOG: 1 1 1 0.14\r\n");
    CHECK_TEXT(stored(), "1 1 1 0.14\n");
    run(999);
    CHECK_TEXT(said(), "");
    loop();
    CHECK_TEXT(said(), "LIVE LOG: 1 2 1 1.00\r\n");
    CHECK_TEXT(stored(), "1 1 1 0.14\n1 2 1 1.00\n");
    CHECK_TEXT(notified(liveUuid) + notified(backupUuid), "");
}

static void missedMeasurementsAreMadeUpFor() {
    core.milliseconds += 2000;
    run(10);
    CHECK_TEXT(said(), "LIVE LOG: 1 3 1 2.45\r\nLIVE LOG: 1 4 1 3.10\r\n");
}

/// A row is sent live by both characteristics, and by the serial line. Rows measured before the central connected are
/// not sent.
static void aCentralGetsBothRows() {
    connect();
    run(1000);
    CHECK_TEXT(notified(liveUuid), "1 1 1 0.14|");
    CHECK_TEXT(notified(backupUuid), "LIVE LOG: 1 1 1 0.14|");
    CHECK_TEXT(said(), "LIVE LOG: 1 1 1 0.14\r\n");
    disconnect();
}

/// A log longer than two blocks, in which no two rows are alike.
static std::string longLog() {
    std::string log;
    for (unsigned row = 100; row < 220; row++) {
        log += "1 1 1 " + std::to_string(row) + ".25\n";
    }
    return log;
}

static void theLineGetsTheLog() {
    core.files["/log.txt"] = longLog();
    core.serialInput = "GET_LOG\r\n";
    loop();
    CHECK_TEXT(said(), "LOG Values: " + longLog());
    CHECK_TEXT(notified(backupUuid), "");
}

/// By radio the transfer takes long enough for rows to be appended during it.
static void theCentralGetsTheLog() {
    core.files["/log.txt"] = longLog();
    connect();
    write("GET_LOG");
    loop();
    CHECK_TEXT(notified(backupUuid), "LOG Values: 1 1 1 10|");
    run(2000);
    std::string log;
    unsigned liveRows = 0;
    std::string packets = notified(backupUuid);
    for (size_t begin = 0, end; (end = packets.find('|', begin)) != std::string::npos; begin = end + 1) {
        std::string packet = packets.substr(begin, end - begin);
        CHECK(packet.size() <= 20);
        if (packet.compare(0, 8, "LIVE LOG") == 0) {
            liveRows++;
        } else {
            log += packet;
        }
    }
    CHECK_TEXT("1 1 1 10" + log, longLog());
    CHECK(liveRows == 2);
    CHECK(stored().size() == longLog().size() + 22);
    disconnect();
    loop();
    said();
}

static void aReturningCentralDoesNotGetTheRestOfTheLog() {
    connect();
    write("GET_LOG");
    loop();
    CHECK_TEXT(notified(backupUuid), "LOG Values: 1 1 1 10|");
    disconnect();
    connect();
    run(500);
    CHECK_TEXT(notified(backupUuid), "");
    disconnect();
}

void testSketch() {
    core = FakeCore();
    core.partition = "LFS....";
    core.millivolts = {{32, 142}, {33, 1000}, {34, 2450}, {35, 3100}};
    setup();
    itMeasuresOnceASecond();
    missedMeasurementsAreMadeUpFor();
    aCentralGetsBothRows();
    theLineGetsTheLog();
    theCentralGetsTheLog();
    aReturningCentralDoesNotGetTheRestOfTheLog();
}
