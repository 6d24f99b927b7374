// Preload this library (LD_PRELOAD) to log the program's fsync, fdatasync and rename calls, the programs that it
// starts, and its writes to terminals. Each adds a line to the file named by SYNC_COUNTER: `sync PATH`, `rename PATH`,
// `spawn PATH`, `write PATH`.
