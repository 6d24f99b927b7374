#include "command.h"

#include <stdlib.h>
#include <string.h>

namespace {

const char speedPrefix[] = "SPEED:";
const uint8_t speedPrefixLength = sizeof speedPrefix - 1;

bool same(const char *text, const char *name) {
    return strcasecmp(text, name) == 0;
}

}

Command Command::parse(const char *text) {
    if (same(text, "ON")) {
        return {Kind::on, 0};
    }
    if (same(text, "OFF")) {
        return {Kind::off, 0};
    }
    if (same(text, "STATUS")) {
        return {Kind::status, 0};
    }
    if (same(text, "TEMP")) {
        return {Kind::temp, 0};
    }
    if (strncasecmp(text, speedPrefix, speedPrefixLength) == 0) {
        return {Kind::speed, strtol(text + speedPrefixLength, nullptr, 10)};
    }
    return {Kind::unknown, 0};
}
