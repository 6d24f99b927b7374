#pragma once

#include <stddef.h>
#include <stdint.h>

#include <memory>

namespace fs {

class FileImpl;
typedef std::shared_ptr<FileImpl> FileImplPtr;

/// A file handle; copies share one open file.
class File {
public:
    File(FileImplPtr p = FileImplPtr()) : _p(p) {}
    operator bool() const;
    size_t size() const;
    bool seek(uint32_t pos);
    size_t read(uint8_t *buf, size_t size);
    size_t write(const uint8_t *buf, size_t size);
    void close();

protected:
    FileImplPtr _p;
};

class LittleFSFS {
public:
    bool begin(
        bool formatOnFail = false, const char *basePath = "/littlefs", uint8_t maxOpenFiles = 10,
        const char *partitionLabel = "spiffs");
    bool format();
    File open(const char *path, const char *mode = "r", const bool create = false);
};

}

using fs::File;

extern fs::LittleFSFS LittleFS;
