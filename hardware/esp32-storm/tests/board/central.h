#pragma once

#include <stdint.h>

#include <string>

extern const char liveUuid[];
extern const char backupUuid[];

// What a central does, as the BLE library tells the sketch.

void connect();
void disconnect();
void agreeOn(uint16_t mtu);
/// A central's write, as the library handles it: it stores the value, calls back, and hands the event on. Between storing
/// and calling back the loop, on the other core, notifies of `meanwhile`.
void write(std::string bytes, const char *meanwhile = nullptr, bool isPrepared = false);
/// What a characteristic has notified since this was last asked, each notification ended by `|`.
std::string notified(const char *uuid);
