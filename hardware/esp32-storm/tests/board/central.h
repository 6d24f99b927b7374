#pragma once

#include <stdint.h>

#include <string>

extern const char liveUuid[];
extern const char backupUuid[];

// Events of a central, as the BLE library reports them to the sketch.

void connect();
void disconnect();
void agreeOn(uint16_t mtu);
/// A central's write, as the library handles it: it stores the value, calls back, and passes the event on. Between the
/// store and the callback the loop, which runs on the other core, notifies `meanwhile`.
void write(std::string bytes, const char *meanwhile = nullptr, bool isPrepared = false);
/// Returns the notifications of a characteristic since the last call, each followed by `|`.
std::string notified(const char *uuid);
