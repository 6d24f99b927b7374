// The main loop of the LED board: take what came, by line or by radio.

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
