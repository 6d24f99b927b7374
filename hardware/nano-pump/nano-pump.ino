// The main loop of the pump: pause, read at most one command, one turn; after a command, blink.

#include <stdio.h>

#include "board.h"
#include "config.h"

static const uint16_t setupTime = 1300;
// Devices in the field sleep for 100 ms and then work for some 9 ms. The work takes less than one here, and the rest is
// slept too, so that a host finds the same pace.
static const uint16_t pauseTime = 109;
static const uint16_t blinkTime = 50;
// As many as decide that there is a fault. The devices in the field take none.
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
    // Power, thermistors and an HM-10 settle before anything is promised.
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

/// Waits, and meanwhile watches the button. What arrives waits in the UART's buffer, which keeps 63 bytes.
static void pause(uint16_t duration) {
    uint32_t begin = millis();
    while (millis() - begin < duration) {
        button.sample(board.buttonDown(), millis());
        board.nap();
    }
}

/// Reads the UART until one command is complete. What follows it stays in the UART's buffer.
static void readCommand() {
    char byte;
    while (commandLine.pending() == CommandLine::Pending::nothing && board.receive(byte)) {
        commandLine.receive(byte);
    }
}

/// With the field's behaviour this is the field's banner: it does not tell why the board has started.
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
