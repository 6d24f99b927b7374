#include "checks.h"
#include "command.h"

using Kind = Command::Kind;

static Command parse(const std::string &text) {
    return Command::parse(text.c_str());
}

static bool isSpeed(const std::string &text, long value) {
    Command command = parse(text);
    return command.kind == Kind::speed && command.value == value;
}

static void caseDoesNotMatter() {
    CHECK(parse("ON").kind == Kind::on);
    CHECK(parse("on").kind == Kind::on);
    CHECK(parse("oFf").kind == Kind::off);
    CHECK(parse("Status").kind == Kind::status);
    CHECK(parse("temp").kind == Kind::temp);
    CHECK(isSpeed("sPeEd:9", 9));
}

static void blanksAreNotTrimmed() {
    for (const char *text : {" ON", "ON ", "ON\t", " ", "STATUS ", "TEMP;", " SPEED:5", "SPEED :5"}) {
        CHECK(parse(text).kind == Kind::unknown);
    }
}

static void anythingElseIsUnknown() {
    for (const char *text : {"O", "ONN", "OFFF", "SPEED", "SPEED=5", "STAT", "AT", "XXXXXX", "OK", "\xff\xfe"}) {
        CHECK(parse(text).kind == Kind::unknown);
    }
}

static void aNulEndsTheCommand() {
    CHECK(parse(std::string("ON\0", 3)).kind == Kind::on);
    CHECK(parse(std::string("OFF\0X", 5)).kind == Kind::off);
    CHECK(parse(std::string("\0ON", 3)).kind == Kind::unknown);
    CHECK(isSpeed(std::string("SPEED:12\0" "3", 10), 12));
}

static void theSpeedIsParsedLikeAtoi() {
    CHECK(isSpeed("SPEED:0", 0));
    CHECK(isSpeed("SPEED:255", 255));
    CHECK(isSpeed("SPEED:256", 256));
    CHECK(isSpeed("SPEED:-1", -1));
    CHECK(isSpeed("SPEED:+7", 7));
    CHECK(isSpeed("SPEED: 42", 42));
    CHECK(isSpeed("SPEED:007", 7));
    CHECK(isSpeed("SPEED:12abc", 12));
    CHECK(isSpeed("SPEED:abc", 0));
    CHECK(isSpeed("SPEED:", 0));
    CHECK(isSpeed("SPEED:0x10", 0));
    CHECK(isSpeed("SPEED:1.9", 1));
}

static void aHugeSpeedStaysHuge() {
    CHECK(isSpeed("SPEED:65536", 65536));
    CHECK(parse("SPEED:4294967296").value > 255);
    CHECK(parse("SPEED:99999999999999999999999999").value > 255);
    CHECK(parse("SPEED:-99999999999999999999999999").value < 0);
}

void checkCommand() {
    caseDoesNotMatter();
    blanksAreNotTrimmed();
    anythingElseIsUnknown();
    aNulEndsTheCommand();
    theSpeedIsParsedLikeAtoi();
    aHugeSpeedStaysHuge();
}
