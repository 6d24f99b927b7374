#include "core.h"

#include <LittleFS.h>
#include <esp_partition.h>

FakeCore core;

HardwareSerial Serial;
fs::LittleFSFS LittleFS;

BLECharacteristic *FakeCore::find(const std::string &uuid) {
    for (auto &entry : characteristics) {
        if (entry.second.uuid == uuid) {
            return const_cast<BLECharacteristic *>(entry.first);
        }
    }
    return nullptr;
}

void pinMode(uint8_t, uint8_t) {}
void digitalWrite(uint8_t pin, uint8_t val) {
    core.pins[pin] = val;
    if (core.duringDigitalWrite) {
        core.duringDigitalWrite();
    }
}
uint32_t analogReadMilliVolts(uint8_t pin) { return core.millivolts[pin]; }
unsigned long millis() { return core.milliseconds; }
void delay(uint32_t ms) { core.milliseconds += ms; }

void HardwareSerial::begin(unsigned long) {}
size_t HardwareSerial::setTxBufferSize(size_t new_size) { return new_size; }
int HardwareSerial::availableForWrite() { return 1000; }
int HardwareSerial::read() {
    if (core.serialInput.empty()) {
        return -1;
    }
    int byte = uint8_t(core.serialInput[0]);
    core.serialInput.erase(0, 1);
    return byte;
}
size_t HardwareSerial::write(const uint8_t *buffer, size_t size) {
    core.serialOutput.append(reinterpret_cast<const char *>(buffer), size);
    return size;
}
size_t HardwareSerial::println(const char *text) {
    core.serialOutput += std::string(text) + "\r\n";
    return strlen(text) + 2;
}

void BLECharacteristic::addDescriptor(BLEDescriptor *) { core.characteristics[this].hasSubscriptionDescriptor = true; }
void BLECharacteristic::setCallbacks(BLECharacteristicCallbacks *pCallbacks) {
    core.characteristics[this].callbacks = pCallbacks;
}
uint16_t BLECharacteristic::getHandle() const { return core.characteristics[this].handle; }
uint8_t *BLECharacteristic::getData() { return reinterpret_cast<uint8_t *>(&core.characteristics[this].value[0]); }
size_t BLECharacteristic::getLength() const { return core.characteristics[this].value.size(); }
void BLECharacteristic::setValue(const uint8_t *data, size_t size) {
    core.characteristics[this].value.assign(reinterpret_cast<const char *>(data), size);
}
void BLECharacteristic::notify(bool) {
    FakeCore::Characteristic &characteristic = core.characteristics[this];
    characteristic.notified += characteristic.value + "|";
}

BLECharacteristic *BLEService::createCharacteristic(const char *uuid, uint32_t properties) {
    BLECharacteristic *characteristic = new BLECharacteristic();
    FakeCore::Characteristic &entry = core.characteristics[characteristic];
    entry.uuid = uuid;
    entry.properties = properties;
    entry.handle = uint16_t(40 + 2 * core.characteristics.size());
    return characteristic;
}
void BLEService::start() {}

void BLEServer::setCallbacks(BLEServerCallbacks *pCallbacks) { core.serverCallbacks = pCallbacks; }
BLEService *BLEServer::createService(const char *) { return new BLEService(); }
void BLEServer::startAdvertising() { core.advertisingStarts++; }

void BLEAdvertising::addServiceUUID(const char *) {}

void BLEDevice::init(String) {}
esp_err_t BLEDevice::setMTU(uint16_t) { return ESP_OK; }
BLEServer *BLEDevice::createServer() { return core.server = new BLEServer(); }
BLEAdvertising *BLEDevice::getAdvertising() {
    static BLEAdvertising advertising;
    return &advertising;
}
void BLEDevice::startAdvertising() { core.advertisingStarts++; }
#if defined(CONFIG_BLUEDROID_ENABLED)
void BLEDevice::setCustomGattsHandler(gatts_event_handler handler) { core.gattsHandler = handler; }
#endif

namespace fs {

/// An open file. A file opened for reading keeps its length at opening, even if another handle appends.
class FileImpl {
public:
    FileImpl(const char *path, bool appends)
        : content(core.files[path]), length(content.size()), appends(appends), mount(core.mount) {}

    bool isOpen() const { return !mount.expired(); }
    void close() { mount.reset(); }

    size_t size() const { return appends ? content.size() : length; }

    std::string &content;
    const size_t length;
    const bool appends;
    size_t position = 0;

private:
    std::weak_ptr<int> mount;
};

File::operator bool() const { return _p && _p->isOpen(); }
size_t File::size() const { return *this ? _p->size() : 0; }
bool File::seek(uint32_t pos) {
    if (!*this) {
        return false;
    }
    // Seeking beyond the end is allowed; reads there return nothing.
    _p->position = pos;
    return true;
}
size_t File::read(uint8_t *buf, size_t size) {
    if (!*this) {
        // The real core returns this value too.
        return size_t(-1);
    }
    if (_p->appends || _p->position >= _p->length) {
        return 0;
    }
    size_t rest = _p->length - _p->position;
    size_t count = _p->content.copy(reinterpret_cast<char *>(buf), size < rest ? size : rest, _p->position);
    _p->position += count;
    return count;
}
size_t File::write(const uint8_t *buf, size_t size) {
    if (!*this || !_p->appends) {
        return 0;
    }
    _p->content.append(reinterpret_cast<const char *>(buf), size);
    return size;
}
void File::close() {
    if (_p) {
        _p->close();
        _p = nullptr;
    }
}

bool LittleFSFS::begin(bool formatOnFail, const char *, uint8_t, const char *) {
    if (core.mount) {
        return true;
    }
    bool canMount = core.partition.compare(0, 3, "LFS") == 0 || (formatOnFail && format());
    core.mount = canMount ? std::make_shared<int>() : nullptr;
    return canMount;
}
bool LittleFSFS::format() {
    core.formats++;
    core.mount = nullptr;
    core.files.clear();
    core.partition.replace(0, 3, "LFS");
    return true;
}
File LittleFSFS::open(const char *path, const char *mode, const bool) {
    bool appends = *mode == 'a';
    if (!core.mount || (!appends && core.files.count(path) == 0)) {
        return File();
    }
    return File(std::make_shared<FileImpl>(path, appends));
}

}

const esp_partition_t *esp_partition_find_first(esp_partition_type_t, esp_partition_subtype_t, const char *) {
    static esp_partition_t partition;
    partition.address = 0x210000;
    partition.size = uint32_t(core.partition.size());
    return core.hasPartition ? &partition : nullptr;
}

esp_err_t esp_partition_read(const esp_partition_t *, size_t src_offset, void *dst, size_t size) {
    if (src_offset + size > core.partition.size()) {
        return -1;
    }
    core.partition.copy(static_cast<char *>(dst), size, src_offset);
    return ESP_OK;
}
