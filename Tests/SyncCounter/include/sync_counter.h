// Preloaded into a program (LD_PRELOAD), this writes a line to the file that SYNC_COUNTER names for each fsync, fdatasync
// and rename of the program, each program that it starts, and each write to a terminal: `sync PATH`, `rename PATH`,
// `spawn PATH`, `write PATH`.
