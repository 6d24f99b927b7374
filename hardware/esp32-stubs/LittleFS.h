#pragma once

#include <stddef.h>
#include <stdint.h>

class File {
public:
    operator bool() const;
    size_t size() const;
    bool seek(uint32_t offset);
    size_t read(uint8_t *bytes, size_t length);
    size_t write(const uint8_t *bytes, size_t length);
    void close();
};

class LittleFSFS {
public:
    bool begin(bool formatsOnFailure);
    File open(const char *path, const char *mode);
};

extern LittleFSFS LittleFS;
