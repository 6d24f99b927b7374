// The main loop of the pump: pauses, reads at most one command, runs one turn, and blinks after a command.

#include <stdio.h>

#include "board.h"
#include "config.h"

// The times are in milliseconds.
static const uint16_t setupTime = 1300;
// Devices in the field sleep for 100 ms and then work for some 9 ms. Here the work takes less than 1 ms, and the board
// sleeps for the rest, so that a host sees the same pace.
static const uint16_t pauseTime = 109;
static const uint16_t blinkTime = 50;
// The number of readings before the first turn: as many as establish a fault if all are bad. The devices in the field
// read nothing during the start.
static const uint8_t readingsAtStart = FIELD ? 0 : 3;

static Board board;
static Button button;
static CommandLine commandLine;
static Controller controller(board, board, THERMISTORS == 1 ? Thermistors::skin : Thermistors::waterAndSkin,
                             FIELD ? Policy::field : Policy::safe, {SKIN_LOWEST, SKIN_HIGHEST});

static void pause(uint16_t duration);
static void readCommand();
static void sayHello();

void setup() {
    board.begin();
    board.statusLed(true);
    // Let the power, the thermistors and an HM-10 settle before the board reports that it is ready.
    delay(setupTime - readingsAtStart * pauseTime);
    for (uint8_t left = readingsAtStart; left > 0; left--) {
        controller.observe(board.inputs());
        delay(pauseTime);
    }
    board.statusLed(false);
    sayHello();
}

void loop() {
    if (WATCHDOG) {
        board.feedWatchdog();
    }
    pause(pauseTime);
    readCommand();
    if (controller.turn(board.inputs(), button, commandLine)) {
        board.statusLed(true);
        pause(blinkTime);
        board.statusLed(false);
    }
}

/// Waits while sampling the button. Received bytes wait in the UART's buffer, which holds 63 bytes.
static void pause(uint16_t duration) {
    uint32_t begin = millis();
    while (millis() - begin < duration) {
        button.sample(board.buttonDown(), millis());
        board.nap();
    }
}

/// Reads the UART until one command is complete. Bytes after that command stay in the UART's buffer.
static void readCommand() {
    char byte;
    while (commandLine.pending() == CommandLine::Pending::nothing && board.receive(byte)) {
        commandLine.receive(byte);
    }
}

/// Sends the banner: with `FIELD` that of the devices in the field, without the reason for the board's start.
static void sayHello() {
    char reset[40];
    snprintf(reset, sizeof reset, "Reset: %s", board.startedBy());
#if BANNER == BANNER_HELLO
    board.line("HELLO:nano-pump " FIRMWARE_VERSION);
    if (!FIELD) {
        board.line(reset);
    }
#elif BANNER == BANNER_LINES
    board.line("==============================");
    board.line("Device: nano-pump");
    board.line("Version: " FIRMWARE_VERSION);
    board.line("Baud Rate: 9600");
    if (!FIELD) {
        board.line(reset);
    }
    board.line("Ready for commands...");
    board.line("==============================");
#else
    (void)reset;
#endif
}
