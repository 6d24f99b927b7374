#pragma once

#include <stddef.h>
#include <stdint.h>

/// The flash partition that holds the log's file system.
class LogPartition {
public:
    virtual size_t size() = 0;
    /// Reads raw flash; false on a read error.
    virtual bool read(size_t offset, uint8_t *bytes, size_t length) = 0;
    /// Mounts the file system without changing the flash.
    virtual bool mount() = 0;
    /// Erases the partition and creates an empty file system.
    virtual bool format() = 0;

protected:
    ~LogPartition() = default;
};

enum class LogState {
    /// A file system was found.
    mounted,
    /// The flash was blank and now holds an empty file system.
    formatted,
    /// The flash holds unknown data that does not mount, or is unreadable, and was left unchanged; or blank flash could
    /// not be formatted.
    unusable,
};

/// Mounts the log's file system. Formats only blank flash, which holds no log: flash that does not mount may still hold
/// a log that can be rescued.
LogState openLog(LogPartition &partition);
