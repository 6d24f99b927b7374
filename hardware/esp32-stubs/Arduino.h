#pragma once

// What the sketches use of Arduino-ESP32's core, for a compiler that checks their syntax. Nothing here does anything.

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define HIGH 1
#define LOW 0
#define OUTPUT 3

void pinMode(uint8_t pin, uint8_t mode);
void digitalWrite(uint8_t pin, uint8_t level);
uint32_t analogReadMilliVolts(uint8_t pin);
unsigned long millis();
void delay(uint32_t milliseconds);

class HardwareSerial {
public:
    void begin(unsigned long baud);
    size_t setTxBufferSize(size_t size);
    int availableForWrite();
    int read();
    size_t write(const uint8_t *bytes, size_t length);
    size_t println(const char *text);
};

extern HardwareSerial Serial;
