#include "board.h"

#include <Arduino.h>
#include <BLE2902.h>
#include <BLEDevice.h>
#include <LittleFS.h>
#include <esp_partition.h>

#include <atomic>

#include "src/log_partition.h"

#if !CONFIG_IDF_TARGET_ESP32
#error "This sketch is for the classic ESP32: only there are GPIO 32 to 35 inputs of ADC1. Board: esp32:esp32:esp32"
#endif
#if !CONFIG_BLUEDROID_ENABLED
#error "This sketch takes its BLE events from Bluedroid, which Arduino-ESP32 3.3.5 has for the classic ESP32."
#endif

namespace {

const char name[] = "storm";
const char serviceUuid[] = "4FAFC201-1FB5-459E-8FCC-C5C9C331914B";
const char liveUuid[] = "1C95D5E3-D8F7-413A-BF3D-7A2E5D7BE87E";
const char backupUuid[] = "BEB5483E-36E1-4688-B7F5-EA07361B26A8";
const char logPath[] = "/log.txt";
/// The MTU of a connection that has not negotiated one.
const uint16_t initialMtu = 23;

/// The sensors are on ADC1, because ADC2 does not work while a radio is on.
const uint8_t sensorPins[] = {32, 33, 34, 35};
const unsigned sensorCount = sizeof sensorPins / sizeof sensorPins[0];

BLECharacteristic *live = nullptr;
BLECharacteristic *backup = nullptr;

/// State that the BLE library's task sets for the loop. `packet` holds a written command while `hasPacket` is true.
std::atomic<bool> isConnected(false);
std::atomic<bool> hasCentralChanged(false);
std::atomic<uint16_t> mtu(initialMtu);
std::atomic<bool> hasPacket(false);
char packet[64];
size_t packetLength = 0;

/// Whether the backup characteristic has notified in this turn of the loop.
bool hasNotified = false;
bool isLogMounted = false;
/// The log, open for `FlashLog::read`. Closed when a row is appended.
File reading;

class FlashPartition final : public LogPartition {
public:
    size_t size() override { return _partition != nullptr ? _partition->size : 0; }
    bool read(size_t offset, uint8_t *bytes, size_t length) override {
        return esp_partition_read(_partition, offset, bytes, length) == ESP_OK;
    }
    bool mount() override { return LittleFS.begin(false, "/littlefs", 10, label); }
    bool format() override { return LittleFS.format(); }

private:
    static constexpr const char *label = "spiffs";
    const esp_partition_t *_partition =
        esp_partition_find_first(ESP_PARTITION_TYPE_DATA, ESP_PARTITION_SUBTYPE_DATA_SPIFFS, label);
};

void openLog() {
    FlashPartition partition;
    LogState state = openLog(partition);
    isLogMounted = state != LogState::unusable;
    if (state == LogState::formatted) {
        Serial.println("Flash: was blank, formatted for the log.");
    } else if (state == LogState::unusable) {
        Serial.println("Flash: not mounted and left as it is. Nothing is stored; measurements are sent live.");
    }
}

void keepPacket(const uint8_t *bytes, size_t length) {
    // There is room for one command, which the loop takes within a few milliseconds. A command that arrives before that
    // is dropped.
    if (hasPacket || length > sizeof packet) {
        return;
    }
    memcpy(packet, bytes, length);
    packetLength = length;
    hasPacket = true;
}

/// Handles an event of the BLE stack, in the BLE library's task. Takes a written value from its event, because each
/// notification overwrites the characteristic's value. `BLECharacteristicCallbacks::onWrite` would not do: it also
/// fires for a long write, whose event has no value.
void handleRadio(esp_gatts_cb_event_t event, esp_gatt_if_t, esp_ble_gatts_cb_param_t *param) {
    switch (event) {
    case ESP_GATTS_CONNECT_EVT:
        mtu = initialMtu;
        hasCentralChanged = true;
        isConnected = true;
        break;
    case ESP_GATTS_DISCONNECT_EVT:
        isConnected = false;
        hasCentralChanged = true;
        BLEDevice::startAdvertising();
        break;
    case ESP_GATTS_MTU_EVT:
        mtu = param->mtu.mtu;
        break;
    case ESP_GATTS_WRITE_EVT:
        if (!param->write.is_prep && param->write.handle == backup->getHandle()) {
            keepPacket(param->write.value, param->write.len);
        }
        break;
    default:
        break;
    }
}

void beginBle() {
    BLEDevice::init(name);
    BLEDevice::setMTU(517);
    BLEServer *server = BLEDevice::createServer();
    BLEService *service = server->createService(serviceUuid);
    live = service->createCharacteristic(liveUuid, BLECharacteristic::PROPERTY_NOTIFY);
    live->addDescriptor(new BLE2902());
    backup = service->createCharacteristic(
        backupUuid, BLECharacteristic::PROPERTY_WRITE | BLECharacteristic::PROPERTY_NOTIFY);
    backup->addDescriptor(new BLE2902());
    BLEDevice::setCustomGattsHandler(handleRadio);
    service->start();
    BLEDevice::getAdvertising()->addServiceUUID(serviceUuid);
    BLEDevice::startAdvertising();
}

void notify(BLECharacteristic *characteristic, const char *bytes, size_t length) {
    characteristic->setValue(reinterpret_cast<const uint8_t *>(bytes), length);
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
    if (!isLogMounted) {
        return 0;
    }
    File file = LittleFS.open(logPath, "r");
    return file ? file.size() : 0;
}

size_t FlashLog::read(size_t offset, char *bytes, size_t length) {
    if (!isLogMounted) {
        return 0;
    }
    if (!reading) {
        reading = LittleFS.open(logPath, "r");
    }
    if (!reading || !reading.seek(offset)) {
        return 0;
    }
    return reading.read(reinterpret_cast<uint8_t *>(bytes), length);
}

void FlashLog::append(const char *bytes, size_t length) {
    if (!isLogMounted) {
        return;
    }
    File file = LittleFS.open(logPath, "a");
    if (file) {
        file.write(reinterpret_cast<const uint8_t *>(bytes), length);
        file.close();
    }
    // A file that is open for reading keeps reporting its old length.
    if (reading) {
        reading.close();
    }
}

void Board::begin() {
    // Writing to the serial line must not block, so it needs a buffer.
    Serial.setTxBufferSize(2048);
    Serial.begin(baud);
    openLog();
    beginBle();
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

bool Board::takeCentralChange() {
    return hasCentralChanged.exchange(false);
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
    // The radio needs some milliseconds for each notification. If notifications follow faster, some get lost.
    delay(hasNotified ? 10 : 1);
    hasNotified = false;
}
