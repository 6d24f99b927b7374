#ifndef NANO_SIM_BOARD_H
#define NANO_SIM_BOARD_H

#include <stdbool.h>
#include <stdint.h>

#include "sim_avr.h"

// The Arduino Nano with everything wired to it: two thermistors, a potentiometer, a button, the pump and two LEDs.

enum { board_frequency = 16000000 };

// The slots of the Arduino core's receive ring. One is always free.
enum { receive_ring_size = 64 };

// The thermistors, by their analogue channel.
enum board_probe { probe_water = 0, probe_skin = 1 };

enum board_condition { condition_sound, condition_open, condition_shorted };

// A thermistor. An open or shorted one keeps its temperature for the time when it is sound again.
struct probe {
    double celsius;
    enum board_condition condition;
};

// The size of a jump of the firmware's clocks: exactly 125 overflows of timer 0, to the microsecond.
enum { board_jump_milliseconds = 128, board_jump_overflows = 125 };

struct board {
    avr_t *avr;
    // Simulated cycles since the start. Unlike avr->cycle, the count continues through a reset.
    uint64_t cycles;
    // Whether the power was switched on, which the first reset does.
    bool is_on;
    // The time of the last reset, in `cycles`.
    uint64_t reset_cycles;
    // Whether the board was reset and its firmware has not opened its UART yet.
    bool is_starting;
    // Whether the register with the reset cause is cleared before the firmware runs, as the bootloader Optiboot does.
    bool clears_cause;
    // Whether the Arduino core's millisecond counter is stopped, and its value since then.
    bool is_hung;
    uint8_t hung_millis[4];
    struct probe probes[2];
    // The reading of the speed potentiometer, 0-1023.
    uint16_t knob;
    bool button_down;
    // RAM addresses of the Arduino core's counters of milliseconds and of timer 0's overflows, 0 if the firmware has
    // none.
    uint16_t millis_address, overflows_address;
    // RAM address of the Arduino core's Serial, 0 if the firmware has none.
    uint16_t serial_address;
};

// Loads a firmware. False, with a message on stderr, if the file is not an AVR firmware.
bool board_load(struct board *board, const char *elf);

// Sets a thermistor's temperature in Celsius. The firmware sees the temperature of a broken thermistor once the
// thermistor is repaired.
void board_set_temperature(struct board *board, enum board_probe probe, double celsius);

// Breaks or repairs a thermistor.
void board_set_condition(struct board *board, enum board_probe probe, enum board_condition condition);

// Sets the potentiometer's reading, 0-1023.
void board_set_knob(struct board *board, uint16_t reading);

// Presses the button, which pulls D2 to ground, or releases it.
void board_set_button(struct board *board, bool down);

// Switches the power on; later calls pull the reset line for a moment. Then runs until the firmware has opened its
// UART, because earlier input is lost. The inputs of the board stay the same.
void board_reset(struct board *board);

// Runs for about this many cycles. False if the firmware has crashed or sleeps for good.
bool board_run(struct board *board, uint64_t cycles);

// Moves the firmware's millisecond clock forward. False if the firmware has none, or never enables interrupts.
bool board_skip(struct board *board, uint32_t milliseconds);

// Moves all clocks of the firmware by `board_jump_milliseconds`. False for the same reasons as `board_skip`.
bool board_jump(struct board *board);

// Stops the Arduino core's millisecond counter until the next reset, so that firmware that waits for time hangs. False
// if the firmware has none.
bool board_hang(struct board *board);

// The head of the Arduino core's receive ring, which moves with each byte that the ring accepts. 0 if the firmware has
// none.
int board_receive_head(const struct board *board);

// Pin D8: whether the pump's driver is enabled.
bool board_pump_enabled(const struct board *board);
// Pin D9: the PWM value, 0-255.
uint8_t board_pump_duty(const struct board *board);
// Pin D12.
bool board_power_led(const struct board *board);
// Pin D13.
bool board_status_led(const struct board *board);

#endif
