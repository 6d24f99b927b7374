#pragma once

#include <Arduino.h>
#include <BLEDevice.h>

#include <functional>
#include <map>
#include <memory>
#include <string>

/// A core that remembers what a sketch does to it, behind the declarations of this folder's parent.
struct FakeCore {
    struct Characteristic {
        std::string uuid;
        uint32_t properties = 0;
        uint16_t handle = 0;
        bool hasSubscriptionDescriptor = false;
        std::string value;
        BLECharacteristicCallbacks *callbacks = nullptr;
        /// What was notified, each ended by `|`.
        std::string notified;
    };

    /// What the sketch wrote to the UART, and what is there to be read.
    std::string serialOutput;
    std::string serialInput;
    /// Pins that were set, and what they were set to.
    std::map<int, int> pins;
    /// What another task does while a pin is being set.
    std::function<void()> duringDigitalWrite;
    std::map<int, uint32_t> millivolts;
    /// The time since the start; only `delay` lets it pass.
    uint32_t milliseconds = 0;

    std::map<const BLECharacteristic *, Characteristic> characteristics;
    BLEServer *server = nullptr;
    BLEServerCallbacks *serverCallbacks = nullptr;
    unsigned advertisingStarts = 0;
#if defined(CONFIG_BLUEDROID_ENABLED)
    gatts_event_handler gattsHandler = nullptr;
#endif

    /// The flash partition; the file system mounts where it begins with `LFS`.
    std::string partition;
    bool hasPartition = true;
    /// Null while nothing is mounted. Files that were opened on an earlier mount are closed.
    std::shared_ptr<int> mount;
    unsigned formats = 0;
    std::map<std::string, std::string> files;

    /// The characteristic with that UUID.
    BLECharacteristic *find(const std::string &uuid);
};

extern FakeCore core;
