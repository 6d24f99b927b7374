#pragma once

#include <Arduino.h>
#include <BLEDevice.h>

#include <functional>
#include <map>
#include <memory>
#include <string>

/// The state of a fake Arduino core, which implements the declarations in the parent folder and records the sketch's
/// calls.
struct FakeCore {
    struct Characteristic {
        std::string uuid;
        uint32_t properties = 0;
        uint16_t handle = 0;
        bool hasSubscriptionDescriptor = false;
        std::string value;
        BLECharacteristicCallbacks *callbacks = nullptr;
        /// The notifications sent, each followed by `|`.
        std::string notified;
    };

    /// The bytes that the sketch wrote to the UART, and the bytes waiting to be read.
    std::string serialOutput;
    std::string serialInput;
    /// The level of each pin that was set.
    std::map<int, int> pins;
    /// Simulates another task that runs while a pin is being set.
    std::function<void()> duringDigitalWrite;
    /// The voltage at each analogue pin.
    std::map<int, uint32_t> millivolts;
    /// Milliseconds since the start; only `delay` advances them.
    uint32_t milliseconds = 0;

    std::map<const BLECharacteristic *, Characteristic> characteristics;
    BLEServer *server = nullptr;
    BLEServerCallbacks *serverCallbacks = nullptr;
    unsigned advertisingStarts = 0;
#if defined(CONFIG_BLUEDROID_ENABLED)
    gatts_event_handler gattsHandler = nullptr;
#endif

    /// The flash partition; the file system mounts if the partition begins with `LFS`.
    std::string partition;
    bool hasPartition = true;
    /// Null while no file system is mounted. Files opened during an earlier mount are closed.
    std::shared_ptr<int> mount;
    unsigned formats = 0;
    std::map<std::string, std::string> files;

    /// Finds the characteristic with this UUID; null if there is none.
    BLECharacteristic *find(const std::string &uuid);
};

extern FakeCore core;
