#include "potentiometer.h"

namespace {

const uint16_t deadZone = 20;
const uint16_t fullScale = 1023;
const uint8_t slowest = 10;
const uint8_t fastest = 255;
const uint8_t hysteresis = 5;

}

uint8_t Potentiometer::speedFor(uint16_t reading) {
    if (reading < deadZone) {
        return 0;
    }
    return slowest + uint32_t(reading - deadZone) * (fastest - slowest) / (fullScale - deadZone);
}

bool Potentiometer::moved(uint16_t reading, uint32_t now) {
    if (now - _readAt < interval) {
        return false;
    }
    _readAt = now;
    uint8_t speed = speedFor(reading);
    int16_t change = int16_t(speed) - int16_t(_taken);
    if (change >= -int16_t(hysteresis) && change <= int16_t(hysteresis)) {
        return false;
    }
    _taken = speed;
    return true;
}
