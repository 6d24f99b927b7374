#include "board.h"

#include <Arduino.h>
#include <BLEDevice.h>

#include <atomic>

#if !CONFIG_IDF_TARGET_ESP32S3
#error "This sketch is for the ESP32-S3: its pins are those of the wiring page. Board: esp32:esp32:esp32s3"
#endif
#if !CONFIG_NIMBLE_ENABLED
#error "This sketch needs Arduino-ESP32 3.3.5, which has NimBLE for the ESP32-S3 and adds the 0x2902 descriptor itself."
#endif

namespace {

const char name[] = "ece196";
const char serviceUuid[] = "937312E0-2354-11EB-9F10-FBC30A62CF38";
const char ledUuid[] = "957312E0-2354-11EB-9F10-FBC30A62CF38";
/// A free pin: no strapping pin (0, 3, 45, 46), and none of USB (19, 20), UART0 (43, 44), or the module's flash and
/// PSRAM (26 to 37).
const uint8_t lampPin = 4;

BLECharacteristic *led = nullptr;

/// Whether a central has written since the loop has last looked. The BLE library's task sets it.
std::atomic<bool> isWritten(false);

class ServerEvents final : public BLEServerCallbacks {
    void onDisconnect(BLEServer *server) override {
        server->startAdvertising();
    }
};

class LedEvents final : public BLECharacteristicCallbacks {
    // NimBLE's callback carries no value and comes late: the characteristic may already hold the next write. So the
    // callback reads nothing, and the loop reads the newest value.
    void onWrite(BLECharacteristic *) override {
        isWritten = true;
    }
};

}

void Board::begin() {
    pinMode(lampPin, OUTPUT);
    light(false);
    Serial.begin(baud);
    BLEDevice::init(name);
    BLEServer *server = BLEDevice::createServer();
    server->setCallbacks(new ServerEvents());
    BLEService *service = server->createService(serviceUuid);
    led = service->createCharacteristic(
        ledUuid, BLECharacteristic::PROPERTY_READ | BLECharacteristic::PROPERTY_WRITE |
                     BLECharacteristic::PROPERTY_NOTIFY);
    led->setCallbacks(new LedEvents());
    set(0);
    service->start();
    BLEDevice::getAdvertising()->addServiceUUID(serviceUuid);
    BLEDevice::startAdvertising();
}

bool Board::receive(char &byte) {
    int value = Serial.read();
    if (value < 0) {
        return false;
    }
    byte = char(value);
    return true;
}

bool Board::takeWrite() {
    return isWritten.exchange(false);
}

void Board::rest() {
    delay(1);
}

void Board::light(bool isOn) {
    digitalWrite(lampPin, isOn ? HIGH : LOW);
}

void Board::line(const char *text) {
    Serial.println(text);
}

size_t Board::read(uint8_t *bytes, size_t size) {
    size_t length = led->getLength();
    memcpy(bytes, led->getData(), length < size ? length : size);
    return length;
}

void Board::set(uint8_t byte) {
    led->setValue(&byte, 1);
}

void Board::notify() {
    led->notify();
}
