#include "storm.h"

#include <stdio.h>
#include <string.h>

namespace {

const char getLog[] = "GET_LOG";

}

void Storm::receive(char byte) {
    if (_commandLine.receive(byte) && strcmp(_commandLine.text(), getLog) == 0) {
        _serial.sendLog();
    }
}

void Storm::receivePacket(const char *bytes, size_t length) {
    // Some hosts add a line end to the packet.
    while (length > 0 && (bytes[length - 1] == '\n' || bytes[length - 1] == '\r')) {
        length--;
    }
    if (length == strlen(getLog) && memcmp(bytes, getLog, length) == 0) {
        _ble.sendLog();
    }
}

void Storm::measured(const Measurement &measurement, char *row) {
    int length = snprintf(row, Channel::rowLimit, "%u %u %u %.2f", measurement.pipe, measurement.port, measurement.point,
                          double(measurement.value));
    // Leave room for the line end and a NUL. The longest row that the numbers allow has 76 characters.
    if (length < 0 || size_t(length) >= Channel::rowLimit - 1) {
        row[0] = '\0';
        return;
    }
    _serial.sendLive(row);
    _ble.sendLive(row);
    row[length] = '\n';
    _store.append(row, size_t(length) + 1);
    row[length] = '\0';
}

void Storm::step() {
    _serial.step();
    _ble.step();
}
