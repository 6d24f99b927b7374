#pragma once

// What the sketches use of Arduino-ESP32's BLE library on Bluedroid.

#include <stddef.h>
#include <stdint.h>

struct esp_ble_gatts_cb_param_t {
    struct {
        uint16_t conn_id;
        uint16_t mtu;
    } mtu;
};

class BLEServer;
class BLECharacteristic;

class BLEDescriptor {};

class BLEServerCallbacks {
public:
    virtual ~BLEServerCallbacks() {}
    virtual void onConnect(BLEServer *) {}
    virtual void onDisconnect(BLEServer *) {}
    virtual void onMtuChanged(BLEServer *, esp_ble_gatts_cb_param_t *) {}
};

class BLECharacteristicCallbacks {
public:
    virtual ~BLECharacteristicCallbacks() {}
    virtual void onWrite(BLECharacteristic *) {}
};

class BLECharacteristic {
public:
    static const uint32_t PROPERTY_READ = 1 << 0;
    static const uint32_t PROPERTY_WRITE = 1 << 1;
    static const uint32_t PROPERTY_NOTIFY = 1 << 2;

    void addDescriptor(BLEDescriptor *);
    void setCallbacks(BLECharacteristicCallbacks *);
    uint8_t *getData();
    size_t getLength();
    void setValue(uint8_t *bytes, size_t length);
    void notify();
};

class BLEService {
public:
    BLECharacteristic *createCharacteristic(const char *uuid, uint32_t properties);
    void start();
};

class BLEServer {
public:
    void setCallbacks(BLEServerCallbacks *);
    BLEService *createService(const char *uuid);
    void startAdvertising();
};

class BLEAdvertising {
public:
    void addServiceUUID(const char *uuid);
};

class BLEDevice {
public:
    static void init(const char *name);
    static int setMTU(uint16_t mtu);
    static BLEServer *createServer();
    static BLEAdvertising *getAdvertising();
    static void startAdvertising();
};
