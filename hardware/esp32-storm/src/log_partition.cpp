#include "log_partition.h"

/// Whether every byte has the value of erased flash; false if the partition is missing or can't be read.
static bool isBlank(LogPartition &partition) {
    uint8_t block[512];
    size_t size = partition.size();
    size_t length;
    for (size_t offset = 0; offset < size; offset += length) {
        length = size - offset < sizeof block ? size - offset : sizeof block;
        if (!partition.read(offset, block, length)) {
            return false;
        }
        for (size_t index = 0; index < length; index++) {
            if (block[index] != 0xFF) {
                return false;
            }
        }
    }
    return size > 0;
}

LogState openLog(LogPartition &partition) {
    if (partition.mount()) {
        return LogState::mounted;
    }
    bool isReady = isBlank(partition) && partition.format() && partition.mount();
    return isReady ? LogState::formatted : LogState::unusable;
}
