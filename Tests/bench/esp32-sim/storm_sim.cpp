// The core of the storm sensor's sketch, without a board, behind a pty.
//
// usage: storm-sim LOG
// LOG is a file with the log that the sensor has in its flash at the start. The file is not changed. Standard input
// takes `measure PIPE PORT POINT VALUE`, one command per line; the reply is `ok` or `error`. The program ends when
// standard input does.

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

#include "pty_line.h"
#include "storm.h"

/// The log in the flash: a file that is not changed, and behind its content the appended bytes, in memory.
class FileLog final : public LogStore {
public:
    explicit FileLog(int file) : _file(file) {
        struct stat status;
        fstat(file, &status);
        _length = size_t(status.st_size);
    }

    size_t size() override { return _length + _appended.size(); }

    size_t read(size_t offset, char *bytes, size_t length) override {
        if (offset >= _length) {
            return _appended.copy(bytes, length, offset - _length);
        }
        ssize_t count = pread(_file, bytes, length, off_t(offset));
        return count > 0 ? size_t(count) : 0;
    }

    void append(const char *bytes, size_t length) override { _appended.append(bytes, length); }

private:
    int _file;
    size_t _length;
    std::string _appended;
};

/// The serial line.
class LineOutput final : public Output {
public:
    explicit LineOutput(PtyLine &line) : _line(line) {}

    size_t room() override { return _line.room(); }
    void write(const char *bytes, size_t length) override { _line.write(bytes, length); }

private:
    PtyLine &_line;
};

/// The radio of a sensor that no central connects to.
class NoOutput final : public Output {
public:
    size_t room() override { return 0; }
    void write(const char *, size_t) override {}
};

int main(int argc, char **argv) {
    int file = argc == 2 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0) {
        fprintf(stderr, "usage: storm-sim LOG\n");
        return argc == 2 ? EX_NOINPUT : EX_USAGE;
    }
    FileLog log(file);
    PtyLine line;
    LineOutput output(line);
    NoOutput radio;
    Storm storm(log, output, radio);

    while (!line.hasEnded()) {
        size_t roomBefore = line.room();
        storm.step();
        line.exchange(line.room() != roomBefore);
        char byte;
        while (line.receive(byte)) {
            storm.receive(byte);
        }
        std::string command;
        while (line.takeCommand(command)) {
            Measurement measurement;
            bool isKnown = sscanf(command.c_str(), "measure %u %u %u %f", &measurement.pipe, &measurement.port,
                                  &measurement.point, &measurement.value) == 4;
            if (isKnown) {
                char row[Channel::rowLimit];
                storm.measured(measurement, row);
                storm.step();
            }
            puts(isKnown ? "ok" : "error");
            fflush(stdout);
        }
    }
    return EX_OK;
}
