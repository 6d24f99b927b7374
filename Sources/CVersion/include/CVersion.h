// The version of the programs.
#pragma once

/// The version in the file VERSION, such as "0.1.0".
const char *cversion(void);
