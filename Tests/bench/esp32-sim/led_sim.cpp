// The core of the LED board's sketch, without a board, behind a pty.
//
// usage: led-sim
// Standard input takes `lamp`, one command per line; the reply is `ok 1` if the LED is lit, else `ok 0`. The program
// ends when standard input does.

#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "led.h"
#include "pty_line.h"

/// The LED, and the serial line to which the firmware writes.
class Board final : public Lamp, public LineOutput {
public:
    explicit Board(PtyLine &line) : _line(line) {}

    bool isLit() const { return _isLit; }
    void light(bool isOn) override { _isLit = isOn; }
    void line(const char *text) override {
        _line.write(text, strlen(text));
        _line.write("\r\n", 2);
    }

private:
    PtyLine &_line;
    bool _isLit = false;
};

/// The BLE characteristic of a board that no central connects to.
class NoValue final : public Value {
public:
    size_t read(uint8_t *, size_t) override { return 0; }
    void set(uint8_t) override {}
    void notify() override {}
};

int main() {
    PtyLine line;
    Board board(line);
    NoValue value;
    Led led(board, board, value);

    while (!line.hasEnded()) {
        line.exchange(false);
        char byte;
        while (line.receive(byte)) {
            led.receive(byte);
        }
        std::string command;
        while (line.takeCommand(command)) {
            if (command == "lamp") {
                printf("ok %d\n", board.isLit() ? 1 : 0);
            } else {
                puts("error");
            }
            fflush(stdout);
        }
    }
    return EX_OK;
}
