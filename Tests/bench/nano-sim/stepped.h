#ifndef NANO_SIM_STEPPED_H
#define NANO_SIM_STEPPED_H

#include "verbs.h"

// A board whose time is owned by its host: it runs only when it is told to, and says what it sent meanwhile. So a host that
// waits in simulated time, too, sees the same whatever else the machine does.
//
// On stdin and stdout, a line each, answered one by one:
//
//   send 4f4e0a         `ok`: bytes, at the usual baud rate, the first as soon as the line is free
//   run MICROSECONDS    runs for so long, or until the firmware begins or ends a line, whichever is sooner:
//                       `ok TIME BUSY HEX`: the microseconds that the board has run by `run` since the start; 1 while a verb
//                       is under way, as `press`, else 0; and the bytes that the firmware has sent since the last answer
//                       to `run`, `-` for none
//   turn 0.5            `ok ...`, and the other verbs, of the emulator too: none takes time of `run`. `press` goes on in the
//                       runs behind it. `advance` is done when it is answered, and so is `reset`
//
// What can't be done is answered by `error ...`. Returns the exit status.
int run_stepped(struct hands *hands);

#endif
