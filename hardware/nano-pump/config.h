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

#define FIRMWARE_VERSION "1.0.0"
