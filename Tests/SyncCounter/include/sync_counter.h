// Preload this library (LD_PRELOAD) to log the program's fsync, fdatasync and rename calls, the programs that it
// starts by posix_spawnp, and its writes to terminals. Each call adds a line to the file named by SYNC_COUNTER:
// `sync FILE`, `rename NEW-NAME`, `spawn PROGRAM` or `write TERMINAL`.
