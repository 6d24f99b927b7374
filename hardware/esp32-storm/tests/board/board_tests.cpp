// Tests of the board's code against a fake Arduino core.

#include "board.h"

#include <string>

#include "central.h"
#include "checks.h"
#include "fake/core.h"
#include "sketch_tests.h"

/// Takes the packet that the board holds; empty if there is none.
static std::string taken(Board &board) {
    char packet[64];
    return std::string(packet, board.receivePacket(packet, sizeof packet));
}

/// Starts a board with this content of the log's partition. A partition that begins with `LFS` mounts, and has a log of
/// one row.
static void begin(Board &board, const std::string &partition) {
    core = FakeCore();
    core.partition = partition;
    core.files["/log.txt"] = "1 1 1 0.50\n";
    board.begin();
}

static void aNotificationDoesNotChangeAPendingWrite() {
    Board board;
    begin(board, "LFS....");
    connect();
    write("GET_LOG");
    CHECK_TEXT(taken(board), "GET_LOG");
    CHECK_TEXT(taken(board), "");
    write("GET_LOG", "LIVE LOG: 1 1 1 0.50");
    CHECK_TEXT(taken(board), "GET_LOG");
    CHECK_TEXT(notified(backupUuid), "LIVE LOG: 1 1 1 0.50|");
    disconnect();
}

static void oneWriteWaitsAtATime() {
    Board board;
    begin(board, "LFS....");
    connect();
    write("one");
    write("two");
    CHECK_TEXT(taken(board), "one");
    write(std::string(64, 'x'));
    CHECK_TEXT(taken(board), std::string(64, 'x'));
    write(std::string(65, 'x'));
    CHECK_TEXT(taken(board), "");
    write("GET_LOG", nullptr, true);
    CHECK_TEXT(taken(board), "");
    disconnect();
}

static void roomIsThePayloadOfOneNotification() {
    Board board;
    BleOutput output;
    begin(board, "LFS....");
    CHECK(output.room() == 0);
    connect();
    board.rest();
    CHECK(output.room() == 20);
    agreeOn(247);
    CHECK(output.room() == 244);
    output.write("x", 1);
    CHECK(output.room() == 0);
    board.rest();
    CHECK(output.room() == 244);
    unsigned starts = core.advertisingStarts;
    board.takeCentralChange();
    disconnect();
    CHECK(core.advertisingStarts == starts + 1);
    CHECK(output.room() == 0);
    CHECK(board.takeCentralChange());
    CHECK(!board.takeCentralChange());
    connect();
    CHECK(board.takeCentralChange());
    CHECK(!board.takeCentralChange());
    CHECK(output.room() == 20);
    disconnect();
}

static void theLogIsReadAndAppended() {
    Board board;
    FlashLog log;
    begin(board, "LFS....");
    log.append("1 2 1 0.60\n", 11);
    CHECK(log.size() == 22);
    char bytes[64];
    CHECK_TEXT(std::string(bytes, log.read(0, bytes, sizeof bytes)), "1 1 1 0.50\n1 2 1 0.60\n");
    CHECK(core.formats == 0);
    CHECK_TEXT(core.serialOutput, "");
}

static void theLogIsReadInBlocks() {
    Board board;
    FlashLog log;
    begin(board, "LFS....");
    core.files["/log.txt"] = "1 1 1 0.50\n1 2 1 0.60\n";
    char bytes[64];
    CHECK_TEXT(std::string(bytes, log.read(0, bytes, 8)), "1 1 1 0.");
    CHECK_TEXT(std::string(bytes, log.read(8, bytes, 8)), "50\n1 2 1");
    CHECK_TEXT(std::string(bytes, log.read(16, bytes, sizeof bytes)), " 0.60\n");
    CHECK(log.read(22, bytes, sizeof bytes) == 0);
    // Both carriers read the log alternately, so that the offset may go back.
    CHECK_TEXT(std::string(bytes, log.read(4, bytes, 4)), "1 0.");
    CHECK_TEXT(std::string(bytes, log.read(11, bytes, 4)), "1 2 ");
}

static void rowsAppendedDuringTheReadingAreReadToo() {
    Board board;
    FlashLog log;
    begin(board, "LFS....");
    char bytes[64];
    CHECK_TEXT(std::string(bytes, log.read(0, bytes, 4)), "1 1 ");
    log.append("1 2 1 0.60\n", 11);
    CHECK_TEXT(std::string(bytes, log.read(4, bytes, sizeof bytes)), "1 0.50\n1 2 1 0.60\n");
    log.append("1 3 1 0.70\n", 11);
    CHECK_TEXT(std::string(bytes, log.read(22, bytes, sizeof bytes)), "1 3 1 0.70\n");
}

static void aDamagedPartitionIsNotFormatted() {
    Board board;
    FlashLog log;
    std::string damaged = std::string(100000, '\xff') + "damaged";
    begin(board, damaged);
    CHECK(core.formats == 0);
    CHECK(core.partition == damaged);
    CHECK(core.serialOutput.find("not mounted") != std::string::npos);
    log.append("1 2 1 0.60\n", 11);
    CHECK(log.size() == 0);
}

static void aBlankPartitionIsFormatted() {
    Board board;
    FlashLog log;
    begin(board, std::string(100000, '\xff'));
    CHECK(core.formats == 1);
    log.append("1 2 1 0.60\n", 11);
    CHECK(log.size() == 11);
}

static void sensorsAreReadInTurn() {
    Board board;
    begin(board, "LFS....");
    core.millivolts = {{32, 142}, {33, 1000}, {34, 2450}, {35, 3100}};
    const float volts[] = {0.142f, 1.0f, 2.45f, 3.1f};
    for (unsigned index = 0; index < 8; index++) {
        Measurement measurement = board.measure();
        CHECK(measurement.pipe == 1 && measurement.port == index % 4 + 1 && measurement.point == 1);
        CHECK(measurement.value == volts[index % 4]);
    }
}

int main() {
    aNotificationDoesNotChangeAPendingWrite();
    oneWriteWaitsAtATime();
    roomIsThePayloadOfOneNotification();
    theLogIsReadAndAppended();
    theLogIsReadInBlocks();
    rowsAppendedDuringTheReadingAreReadToo();
    aDamagedPartitionIsNotFormatted();
    aBlankPartitionIsFormatted();
    sensorsAreReadInTurn();
    testSketch();
    return conclude();
}
