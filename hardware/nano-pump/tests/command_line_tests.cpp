#include "checks.h"
#include "command_line.h"

using Pending = CommandLine::Pending;

/// Feeds bytes until one is refused; returns the number of accepted bytes.
static size_t feed(CommandLine &line, const std::string &bytes) {
    size_t taken = 0;
    while (taken < bytes.size() && line.receive(bytes[taken])) {
        taken++;
    }
    return taken;
}

static void eitherLineEndEndsACommand() {
    for (const char *bytes : {"STATUS\n", "STATUS\r"}) {
        CommandLine line;
        feed(line, bytes);
        CHECK(line.pending() == Pending::command);
        CHECK_TEXT(line.text(), "STATUS");
    }
}

static void anEmptyLineIsIgnored() {
    CommandLine line;
    feed(line, "\r\n\n\r");
    CHECK(line.pending() == Pending::nothing);
    feed(line, "ON\r");
    line.clear();
    CHECK(feed(line, "\nOFF\n") == 5);
    CHECK_TEXT(line.text(), "OFF");
}

static void bytesAfterACommandAreRefusedUntilItIsTaken() {
    CommandLine line;
    CHECK(feed(line, "ON\nOFF\n") == 3);
    CHECK_TEXT(line.text(), "ON");
    line.clear();
    CHECK(feed(line, "OFF\n") == 4);
    CHECK_TEXT(line.text(), "OFF");
}

static void sixtyThreeBytesFit() {
    CommandLine line;
    CHECK(feed(line, std::string(63, 'X') + "\n") == 64);
    CHECK(line.pending() == Pending::command);
    CHECK_TEXT(line.text(), std::string(63, 'X'));
}

static void theSixtyFourthByteOverflows() {
    CommandLine line;
    CHECK(feed(line, std::string(64, 'X') + "\n") == 64);
    CHECK(line.pending() == Pending::overflow);
    line.clear();
    feed(line, "\n");
    CHECK(line.pending() == Pending::nothing);
}

static void bytesAfterAnOverflowBeginANewCommand() {
    CommandLine line;
    std::string bytes = std::string(70, 'X') + "\n";
    size_t taken = feed(line, bytes);
    CHECK(taken == 64);
    line.clear();
    CHECK(feed(line, bytes.substr(taken)) == 7);
    CHECK_TEXT(line.text(), "XXXXXX");
}

static void everySixtyFourthByteOverflows() {
    CommandLine line;
    std::string bytes(64 * 5, 'X');
    for (int round = 0; round < 5; round++) {
        CHECK(feed(line, bytes.substr(64 * round)) == 64);
        CHECK(line.pending() == Pending::overflow);
        line.clear();
    }
}

static void aNulCountsAsAByteAndEndsTheText() {
    CommandLine line;
    feed(line, std::string("ON\0junk\n", 8));
    CHECK(line.pending() == Pending::command);
    CHECK_TEXT(line.text(), "ON");
    line.clear();
    feed(line, std::string("\0\n", 2));
    CHECK(line.pending() == Pending::command);
    CHECK_TEXT(line.text(), "");
    line.clear();
    feed(line, std::string(64, '\0'));
    CHECK(line.pending() == Pending::overflow);
}

void checkCommandLine() {
    eitherLineEndEndsACommand();
    anEmptyLineIsIgnored();
    bytesAfterACommandAreRefusedUntilItIsTaken();
    sixtyThreeBytesFit();
    theSixtyFourthByteOverflows();
    bytesAfterAnOverflowBeginANewCommand();
    everySixtyFourthByteOverflows();
    aNulCountsAsAByteAndEndsTheText();
}
