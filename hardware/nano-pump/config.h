#pragma once

/// Build options. The Makefile sets them from its variables of the same names.

/// 2: water and skin. 1: skin only (`Temp:` in STATUS, `TEMP:34.5`).
#ifndef THERMISTORS
#define THERMISTORS 2
#endif

#define BANNER_OFF 0
#define BANNER_HELLO 1
#define BANNER_LINES 2

/// The text sent at the end of `setup()`.
#ifndef BANNER
#define BANNER BANNER_LINES
#endif

/// 1: of the thermistors' readings, only skin above `SKIN_HIGHEST` stops the pump, at the first such reading, like the
/// devices in the field. 0: cold skin and broken thermistors stop the pump too; each fault, also hot skin, stops it
/// after several bad readings; and the banner gives the reason for the board's start.
#ifndef FIELD
#define FIELD 0
#endif

/// 1: the watchdog resets the board if the main loop hangs. Only for a bootloader that supports a watchdog, such as
/// Optiboot ("new"). With the old bootloader a watchdog reset repeats for ever, with the pump off, until the board
/// loses power.
#ifndef WATCHDOG
#define WATCHDOG (!FIELD)
#endif

/// Degrees Celsius. The pump stops if the skin is warmer. The devices in the field use the same limit.
#define SKIN_HIGHEST 40.0f

/// Degrees Celsius. The pump stops if the skin is colder, except with `FIELD`. The pumped liquid may be ice water. Cold
/// hurts from about 15 C, and at 7 C skin is numb (ISO 13732-3, for touching cold surfaces): the wearer no longer feels
/// the harm, or the thermistor is off the skin, or broken. 10 C lies between the two, with a margin for a reading that
/// is a degree too warm. This project chose the limit, not a physician.
#define SKIN_LOWEST 10.0f

#define FIRMWARE_VERSION "1.1.0"
