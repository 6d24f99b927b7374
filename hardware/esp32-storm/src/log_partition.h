#pragma once

#include <stddef.h>
#include <stdint.h>

/// The flash partition that holds the log's file system.
class LogPartition {
public:
    virtual size_t size() = 0;
    /// Reads raw flash; false when it can't be read.
    virtual bool read(size_t offset, uint8_t *bytes, size_t length) = 0;
    /// Mounts the file system, and changes nothing in flash.
    virtual bool mount() = 0;
    /// Erases the partition and makes an empty file system in it.
    virtual bool format() = 0;

protected:
    ~LogPartition() = default;
};

enum class LogState {
    /// A file system was found.
    mounted,
    /// The flash was blank; it holds an empty file system now.
    formatted,
    /// The flash holds something that does not mount, or can't be read. It was left as it is.
    unusable,
};

/// Mounts the log's file system. Formats only blank flash, which holds no log: flash that does not mount may hold one that
/// can still be rescued.
LogState openLog(LogPartition &partition);
