#include "board.h"

#include <Arduino.h>
#include <BLE2902.h>
#include <BLEDevice.h>
#include <LittleFS.h>

#include <atomic>

namespace {

const char name[] = "storm";
const char serviceUuid[] = "4FAFC201-1FB5-459E-8FCC-C5C9C331914B";
const char liveUuid[] = "1C95D5E3-D8F7-413A-BF3D-7A2E5D7BE87E";
const char backupUuid[] = "BEB5483E-36E1-4688-B7F5-EA07361B26A8";
const char logPath[] = "/log.txt";

/// Sensors on the ADC's first unit, which works beside the radio.
const uint8_t sensorPins[] = {32, 33, 34, 35};
const unsigned sensorCount = sizeof sensorPins / sizeof sensorPins[0];

BLECharacteristic *live = nullptr;
BLECharacteristic *backup = nullptr;

/// What the radio's task tells the loop.
std::atomic<bool> isConnected(false);
std::atomic<bool> hasDisconnected(false);
std::atomic<uint16_t> mtu(23);
std::atomic<bool> hasPacket(false);
char packet[64];
size_t packetLength = 0;

bool hasNotified = false;
File reading;

class ServerEvents final : public BLEServerCallbacks {
    void onConnect(BLEServer *) override {
        isConnected = true;
    }
    void onDisconnect(BLEServer *server) override {
        isConnected = false;
        hasDisconnected = true;
        mtu = 23;
        server->startAdvertising();
    }
    void onMtuChanged(BLEServer *, esp_ble_gatts_cb_param_t *param) override {
        mtu = param->mtu.mtu;
    }
};

class BackupEvents final : public BLECharacteristicCallbacks {
    void onWrite(BLECharacteristic *characteristic) override {
        // One command at a time: the loop takes it within a few milliseconds.
        size_t length = characteristic->getLength();
        if (hasPacket || length > sizeof packet) {
            return;
        }
        memcpy(packet, characteristic->getData(), length);
        packetLength = length;
        hasPacket = true;
    }
};

void beginBle() {
    BLEDevice::init(name);
    BLEDevice::setMTU(517);
    BLEServer *server = BLEDevice::createServer();
    server->setCallbacks(new ServerEvents());
    BLEService *service = server->createService(serviceUuid);
    live = service->createCharacteristic(liveUuid, BLECharacteristic::PROPERTY_NOTIFY);
    live->addDescriptor(new BLE2902());
    backup = service->createCharacteristic(
        backupUuid, BLECharacteristic::PROPERTY_WRITE | BLECharacteristic::PROPERTY_NOTIFY);
    backup->addDescriptor(new BLE2902());
    backup->setCallbacks(new BackupEvents());
    service->start();
    BLEDevice::getAdvertising()->addServiceUUID(serviceUuid);
    BLEDevice::startAdvertising();
}

void notify(BLECharacteristic *characteristic, const char *bytes, size_t length) {
    characteristic->setValue(reinterpret_cast<uint8_t *>(const_cast<char *>(bytes)), length);
    characteristic->notify();
}

}

size_t SerialOutput::room() {
    int room = Serial.availableForWrite();
    return room > 0 ? size_t(room) : 0;
}

void SerialOutput::write(const char *bytes, size_t length) {
    Serial.write(reinterpret_cast<const uint8_t *>(bytes), length);
}

size_t BleOutput::room() {
    return isConnected && !hasNotified ? size_t(mtu) - 3 : 0;
}

void BleOutput::write(const char *bytes, size_t length) {
    notify(backup, bytes, length);
    hasNotified = true;
}

size_t FlashLog::size() {
    File file = LittleFS.open(logPath, "r");
    return file ? file.size() : 0;
}

size_t FlashLog::read(size_t offset, char *bytes, size_t length) {
    if (!reading) {
        reading = LittleFS.open(logPath, "r");
    }
    if (!reading || !reading.seek(offset)) {
        return 0;
    }
    return reading.read(reinterpret_cast<uint8_t *>(bytes), length);
}

void FlashLog::append(const char *bytes, size_t length) {
    File file = LittleFS.open(logPath, "a");
    if (file) {
        file.write(reinterpret_cast<const uint8_t *>(bytes), length);
        file.close();
    }
    // The file that is read from shows its old length.
    if (reading) {
        reading.close();
    }
}

bool Board::begin() {
    // What is written must not wait for the line.
    Serial.setTxBufferSize(2048);
    Serial.begin(baud);
    beginBle();
    return LittleFS.begin(true);
}

bool Board::receive(char &byte) {
    int value = Serial.read();
    if (value < 0) {
        return false;
    }
    byte = char(value);
    return true;
}

size_t Board::receivePacket(char *bytes, size_t size) {
    if (!hasPacket) {
        return 0;
    }
    size_t length = packetLength < size ? packetLength : size;
    memcpy(bytes, packet, length);
    hasPacket = false;
    return length;
}

bool Board::takeDisconnection() {
    return hasDisconnected.exchange(false);
}

Measurement Board::measure() {
    static unsigned next = 0;
    unsigned sensor = next;
    next = (next + 1) % sensorCount;
    return {1, sensor + 1, 1, analogReadMilliVolts(sensorPins[sensor]) / 1000.0f};
}

void Board::notifyLive(const char *row) {
    if (isConnected) {
        notify(live, row, strlen(row));
    }
}

void Board::rest() {
    // The radio takes a packet in some milliseconds; who notifies faster loses them.
    delay(hasNotified ? 10 : 1);
    hasNotified = false;
}
