#pragma once

/// Build options; the Makefile sets them by its variables of the same names.

/// 2: water and skin. 1: skin only (`Temp:` in STATUS, `TEMP:34.5`).
#ifndef THERMISTORS
#define THERMISTORS 2
#endif

#define BANNER_OFF 0
#define BANNER_HELLO 1
#define BANNER_LINES 2

/// What is said at the end of `setup()`.
#ifndef BANNER
#define BANNER BANNER_LINES
#endif

/// 1: only skin above `SKIN_HIGHEST` stops the pump, at the first reading, as in the devices in the field. 0: so do cold skin
/// and broken thermistors, and several readings decide; the banner tells why the board has started.
#ifndef FIELD
#define FIELD 0
#endif

/// 1: a main loop that hangs is reset. Only for a bootloader that works with a watchdog, as Optiboot ("new") does: with the
/// old one a board that was reset by its watchdog resets for ever, with the pump off, until it loses its power.
#ifndef WATCHDOG
#define WATCHDOG (!FIELD)
#endif

/// Degrees Celsius: the pump stops when the skin is above. The devices in the field stop there.
#define SKIN_HIGHEST 40.0f

/// Degrees Celsius: the pump stops when the skin is below, but for `FIELD`. What is pumped may be ice water. Cold hurts from
/// about 15 C, and at 7 C skin is numb (ISO 13732-3, for touching cold surfaces): who wears the pump no longer feels the
/// harm, or the thermistor is off the skin, or broken. 10 C lies between the two, with room for a reading that is a degree
/// too warm. This project chose it, no physician.
#define SKIN_LOWEST 10.0f

#define FIRMWARE_VERSION "1.1.0"
