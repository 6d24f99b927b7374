#pragma once

// The parts of the Arduino core that the sketches use. README.md names the core's version.

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "sdkconfig.h"

#define HIGH 0x1
#define LOW 0x0
#define OUTPUT 0x03

typedef int esp_err_t;
#define ESP_OK 0

void pinMode(uint8_t pin, uint8_t mode);
void digitalWrite(uint8_t pin, uint8_t val);
uint32_t analogReadMilliVolts(uint8_t pin);
unsigned long millis();
void delay(uint32_t ms);

class String {
public:
    String(const char *) {}
};

class HardwareSerial {
public:
    void begin(unsigned long baud);
    size_t setTxBufferSize(size_t new_size);
    int availableForWrite();
    int read();
    size_t write(const uint8_t *buffer, size_t size);
    size_t println(const char *text);
};

extern HardwareSerial Serial;
