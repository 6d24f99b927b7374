#ifndef NANO_SIM_STEPPED_H
#define NANO_SIM_STEPPED_H

#include "verbs.h"

// A board whose host controls the time: it runs only on request, and then reports its output. So a host in simulated
// time always sees the same behaviour, however busy the machine is.
//
// On stdin and stdout, one line each, answered one by one:
//
//   send 4f4e0a         `ok`: bytes, at the usual baud rate, the first as soon as the line is free
//   run MICROSECONDS    runs for this time, or until the firmware begins or ends a line, whichever is earlier:
//                       `ok TIME BUSY HEX`: the microseconds that the board has run by `run` since the start; 1 while a
//                       verb such as `press` is in progress, else 0; and the firmware's output since the last reply to
//                       `run`, `-` for none
//   turn 0.5            `ok ...`, and the other verbs, including the emulator's: none takes time of `run`. `press`
//                       continues in the next runs. `advance` and `reset` are done when the reply comes
//
// The reply to a line that can't be carried out is `error ...`. Returns the exit status.
int run_stepped(struct hands *hands);

#endif
