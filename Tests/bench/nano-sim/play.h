#ifndef NANO_SIM_PLAY_H
#define NANO_SIM_PLAY_H

#include "board.h"

// Plays streams of bytes, presses and readings to a board, in simulated time only. Each stream is played to a copy of
// the started board, so that streams do not affect each other.
//
// On stdin, a stream has lines "MICROSECONDS WHAT ARGUMENT" in order of time, counted from the beginning of the stream:
//
//   1500 send 4f4e0a      bytes, at 9600 baud, the first as soon as the line is free
//   2000 turn 0.5         and the other verbs that change the board's inputs: temperature, probe
//   2000 button 1         pressed; 0: released
//   900000 end            the stream ends
//
// On stdout, the first line is "begins MICROSECONDS": the time between the reset and the beginning of a stream. Four
// lines follow for each stream, with times since the reset:
//
//   bytes TIME:HEX ...        each byte that left, with the end of its last bit
//   turns TIME ...            the times at which the firmware began to measure: once in each turn of its main loop
//   motor TIME:ENABLED:DUTY ...
//   lost COUNT                bytes for which the firmware's receive buffer had no room
//
// Returns the exit status.
int play(struct board *board);

#endif
