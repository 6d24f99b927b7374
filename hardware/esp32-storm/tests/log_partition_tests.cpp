#include "log_partition_tests.h"

#include "log_partition.h"

#include <cstring>
#include <string>

#include "checks.h"

namespace {

/// A partition in memory. It mounts if it begins with `LFS`.
struct FakePartition : LogPartition {
    explicit FakePartition(const std::string &flash) : flash(flash) {}

    size_t size() override { return flash.size(); }
    bool read(size_t offset, uint8_t *bytes, size_t length) override {
        CHECK(offset + length <= flash.size());
        if (offset + length > readableSize) {
            return false;
        }
        memcpy(bytes, flash.data() + offset, length);
        return true;
    }
    bool mount() override { return mounts && flash.compare(0, 3, "LFS") == 0; }
    bool format() override {
        formats++;
        if (canFormat) {
            flash.replace(0, 3, "LFS");
        }
        return canFormat;
    }

    std::string flash;
    size_t readableSize = size_t(-1);
    bool mounts = true;
    bool canFormat = true;
    unsigned formats = 0;
};

const size_t sizes[] = {1, 511, 512, 513, 4096, 100000};

void aFileSystemIsMounted() {
    FakePartition partition("LFS, and a log");
    CHECK(openLog(partition) == LogState::mounted);
    CHECK(partition.formats == 0);
}

void blankFlashIsFormatted() {
    for (size_t size : sizes) {
        FakePartition partition(std::string(size, '\xff'));
        CHECK(openLog(partition) == LogState::formatted);
        CHECK(partition.formats == 1);
    }
}

void flashThatIsNotBlankIsLeftAlone() {
    for (size_t size : sizes) {
        for (size_t offset : {size_t(0), size / 2, size - 1}) {
            std::string flash(size, '\xff');
            flash[offset] = '\xfe';
            FakePartition partition(flash);
            CHECK(openLog(partition) == LogState::unusable);
            CHECK(partition.formats == 0);
            CHECK(partition.flash == flash);
        }
    }
}

void flashThatCannotBeReadIsLeftAlone() {
    FakePartition partition(std::string(2000, '\xff'));
    partition.readableSize = 1900;
    CHECK(openLog(partition) == LogState::unusable);
    FakePartition missing("");
    CHECK(openLog(missing) == LogState::unusable);
    CHECK(partition.formats == 0 && missing.formats == 0);
}

void aFailedFormatIsReported() {
    FakePartition partition(std::string(600, '\xff'));
    partition.canFormat = false;
    CHECK(openLog(partition) == LogState::unusable);
    FakePartition unmountable(std::string(600, '\xff'));
    unmountable.mounts = false;
    CHECK(openLog(unmountable) == LogState::unusable);
}

}

void testLogPartition() {
    aFileSystemIsMounted();
    blankFlashIsFormatted();
    flashThatIsNotBlankIsLeftAlone();
    flashThatCannotBeReadIsLeftAlone();
    aFailedFormatIsReported();
}
