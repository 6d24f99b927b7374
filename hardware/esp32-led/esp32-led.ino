// The main loop of the LED board: handles received serial bytes and BLE writes.

#include <Arduino.h>

#include "board.h"

static Board board;
static Led led(board, board, board);

void setup() {
    board.begin();
}

void loop() {
    char byte;
    while (board.receive(byte)) {
        led.receive(byte);
    }
    if (board.takeWrite()) {
        led.written();
    }
    board.rest();
}
