#include "board.h"

#include <Arduino.h>
#include <BLE2902.h>
#include <BLEDevice.h>

#include <atomic>

namespace {

const char name[] = "ece196";
const char serviceUuid[] = "937312E0-2354-11EB-9F10-FBC30A62CF38";
const char ledUuid[] = "957312E0-2354-11EB-9F10-FBC30A62CF38";
const uint8_t lampPin = 2;

BLECharacteristic *led = nullptr;
uint8_t shown = 0;

/// The byte that the radio's task has for the loop; -1 for none.
std::atomic<int> written(-1);

class ServerEvents final : public BLEServerCallbacks {
    void onDisconnect(BLEServer *server) override {
        server->startAdvertising();
    }
};

class LedEvents final : public BLECharacteristicCallbacks {
    void onWrite(BLECharacteristic *characteristic) override {
        if (characteristic->getLength() == 1) {
            written = characteristic->getData()[0];
        }
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
    led->addDescriptor(new BLE2902());
    led->setCallbacks(new LedEvents());
    led->setValue(&shown, 1);
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

bool Board::receiveValue(uint8_t &value) {
    int byte = written.exchange(-1);
    if (byte < 0) {
        return false;
    }
    value = uint8_t(byte);
    return true;
}

void Board::showValue(uint8_t value) {
    if (value == shown) {
        return;
    }
    shown = value;
    led->setValue(&shown, 1);
    led->notify();
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
