// The main loop of the storm sensor: handles input, measures when due, and sends as much as the outputs accept.

#include <Arduino.h>

#include "board.h"

// Milliseconds between two measurements. Measurements that a slow turn has missed are made up for.
static const uint32_t measuringInterval = 1000;

static Board board;
static SerialOutput serialOutput;
static BleOutput bleOutput;
static FlashLog flashLog;
static Storm storm(flashLog, serialOutput, bleOutput);
static uint32_t measuredAt = 0;

void setup() {
    board.begin();
}

void loop() {
    char byte;
    while (board.receive(byte)) {
        storm.receive(byte);
    }
    // A new central drops the pending output, before its packet is taken: the reply to the packet must not be dropped.
    if (board.takeCentralChange()) {
        storm.centralChanged();
    }
    char packet[64];
    size_t length = board.receivePacket(packet, sizeof packet);
    if (length > 0) {
        storm.receivePacket(packet, length);
    }
    if (millis() - measuredAt >= measuringInterval) {
        measuredAt += measuringInterval;
        char row[Channel::rowLimit];
        storm.measured(board.measure(), row);
        board.notifyLive(row);
    }
    storm.step();
    board.rest();
}
