#ifndef NANO_SIM_BOARD_H
#define NANO_SIM_BOARD_H

#include <stdbool.h>
#include <stdint.h>

#include "sim_avr.h"

// The Arduino Nano and what is wired to it: two thermistors, a potentiometer, a button, the pump and two LEDs.

enum { board_frequency = 16000000 };

// Slots of the Arduino core's receive ring. One is always free.
enum { receive_ring_size = 64 };

// The thermistors, by their analogue channel.
enum board_probe { probe_water = 0, probe_skin = 1 };

enum board_condition { condition_sound, condition_open, condition_shorted };

struct probe {
    double celsius;
    enum board_condition condition;
};

// By how much the firmware's clocks jump: as long as 125 overflows of timer 0, to the microsecond.
enum { board_jump_milliseconds = 128, board_jump_overflows = 125 };

struct board {
    avr_t *avr;
    // Simulated cycles since the start; unlike avr->cycle it runs on through a reset.
    uint64_t cycles;
    // It has been reset at least once: its power was switched on.
    bool is_on;
    // When the board was reset last.
    uint64_t reset_cycles;
    // The board was reset, and its firmware has not opened its UART.
    bool is_starting;
    // Whether the register that tells why a reset came is cleared before the firmware runs, as Optiboot does.
    bool clears_cause;
    // The Arduino core's millisecond counter, while it is held still.
    bool is_hung;
    uint8_t hung_millis[4];
    struct probe probes[2];
    // The reading of the speed potentiometer, 0-1023.
    uint16_t knob;
    bool button_down;
    // RAM addresses of the Arduino core's counters of milliseconds and of timer 0's overflows, 0 if the firmware has none.
    uint16_t millis_address, overflows_address;
    // RAM address of the Arduino core's Serial, 0 if the firmware has none.
    uint16_t serial_address;
};

// Loads a firmware. False, with a message on stderr, if the file is no AVR firmware.
bool board_load(struct board *board, const char *elf);

// Brings a thermistor to a temperature in Celsius, also one that is broken.
void board_set_temperature(struct board *board, enum board_probe probe, double celsius);

// Breaks a thermistor, or mends it.
void board_set_condition(struct board *board, enum board_probe probe, enum board_condition condition);

// Turns the potentiometer to a reading of 0-1023.
void board_set_knob(struct board *board, uint16_t reading);

// Pulls D2 to ground, or lets go of it.
void board_set_button(struct board *board, bool down);

// Switches the power on; later pulls the reset line for a moment. Then runs until the firmware has opened its UART, since
// what is sent before that is lost. What is wired to the board stays as it is.
void board_reset(struct board *board);

// Runs for about so many cycles. False when the firmware has crashed or slept for good.
bool board_run(struct board *board, uint64_t cycles);

// Moves the firmware's millisecond clock forward. False if the firmware has none, or never lets interrupts in.
bool board_skip(struct board *board, uint32_t milliseconds);

// Moves all clocks of the firmware by `board_jump_milliseconds`. False as board_skip.
bool board_jump(struct board *board);

// Holds the Arduino core's millisecond counter still until the next reset: firmware that waits for time to pass hangs.
// False if the firmware has none.
bool board_hang(struct board *board);

// Where the Arduino core's receive ring ends: it moves with each byte that the ring takes. 0 if the firmware has none.
int board_receive_head(const struct board *board);

// D8: is the pump's driver enabled?
bool board_pump_enabled(const struct board *board);
// D9: the PWM value, 0-255.
uint8_t board_pump_duty(const struct board *board);
// D12.
bool board_power_led(const struct board *board);
// D13.
bool board_status_led(const struct board *board);

#endif
