// The main loop of the LED board: take what came, by line or by radio, and show what it made of the value.

#include <Arduino.h>

#include "board.h"

static Board board;
static Led led(board, board);

void setup() {
    board.begin();
}

void loop() {
    char byte;
    while (board.receive(byte)) {
        led.receive(byte);
    }
    uint8_t value;
    if (board.receiveValue(value)) {
        led.write(value);
    }
    board.showValue(led.value());
    board.rest();
}
