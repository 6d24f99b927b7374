// The main loop of the pump: pause 100 ms, one turn, blink 50 ms.

#include "board.h"
#include "config.h"

static const uint16_t setupTime = 1300;
static const uint16_t pauseTime = 100;
static const uint16_t blinkTime = 50;

static Board board;
static Button button;
static CommandLine commandLine;
static Controller controller(board, board, THERMISTORS == 1 ? Thermistors::skin : Thermistors::waterAndSkin);

static void pause(uint16_t duration);
static void sayHello();

void setup() {
    board.begin();
    board.statusLed(true);
    // Power, thermistors and an HM-10 settle before anything is promised.
    delay(setupTime);
    board.statusLed(false);
    sayHello();
}

void loop() {
    pause(pauseTime);
    controller.turn(board.inputs(), button, commandLine);
    board.statusLed(true);
    pause(blinkTime);
    board.statusLed(false);
}

/// Waits, and meanwhile watches the button and drains the UART until one command is complete; what follows it stays in
/// the UART's buffer.
static void pause(uint16_t duration) {
    uint32_t begin = millis();
    while (millis() - begin < duration) {
        button.sample(board.buttonDown(), millis());
        char byte;
        while (commandLine.pending() == CommandLine::Pending::nothing && board.receive(byte)) {
            commandLine.receive(byte);
        }
        board.nap();
    }
}

static void sayHello() {
#if BANNER == BANNER_HELLO
    board.line("HELLO:nano-pump " FIRMWARE_VERSION);
#elif BANNER == BANNER_LINES
    board.line("==============================");
    board.line("Device: nano-pump");
    board.line("Version: " FIRMWARE_VERSION);
    board.line("Baud Rate: 9600");
    board.line("Ready for commands...");
    board.line("==============================");
#endif
}
