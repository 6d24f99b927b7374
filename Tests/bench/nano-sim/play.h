#ifndef NANO_SIM_PLAY_H
#define NANO_SIM_PLAY_H

#include "board.h"

// Plays streams of bytes, presses and readings to a board, in simulated time only. Each stream is played to a copy of the
// board as it is once the firmware has started, so that no stream knows of another.
//
// On stdin, a stream is lines "MICROSECONDS WHAT ARGUMENT" in the order of their times, counted from where the stream begins:
//
//   1500 send 4f4e0a      bytes, at 9600 baud, the first as soon as the line is free
//   2000 turn 0.5         and the other verbs that change what is wired to the board: temperature, probe
//   2000 button 1         pressed; 0: released
//   900000 end            the stream ends
//
// On stdout, one line "begins MICROSECONDS" first of all: when after the reset a stream begins. For each stream four lines,
// with times since the reset:
//
//   bytes TIME:HEX ...        each byte that left, and when its last bit had
//   turns TIME ...            when the firmware began to measure: once in each turn of its main loop
//   motor TIME:ENABLED:DUTY ...
//   lost COUNT                bytes that the firmware's receive buffer had no room for
//
// Returns the exit status.
int play(struct board *board);

#endif
