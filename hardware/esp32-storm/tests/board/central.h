#pragma once

#include <stdint.h>

#include <string>

extern const char liveUuid[];
extern const char backupUuid[];

// Events of a central, as the BLE library reports them to the sketch.

/// A central connects, disconnects, or negotiates an MTU.
void connect();
void disconnect();
void agreeOn(uint16_t mtu);
/// A central writes to the backup characteristic. The library stores the value, calls back, and passes the event on.
/// Between storing and callback, the backup characteristic notifies `meanwhile` unless it is null, as the loop may on
/// the ESP32's second core. A prepared write is a part of a long write: the library does not store it and does not call
/// back.
void write(std::string bytes, const char *meanwhile = nullptr, bool isPrepared = false);
/// Returns the notifications of a characteristic since the last call, each followed by `|`.
std::string notified(const char *uuid);
