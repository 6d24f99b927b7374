#pragma once

// The parts of the BLE library that the sketches use. The library runs on either of two BLE stacks.

#include <stddef.h>
#include <stdint.h>

#include "Arduino.h"

#if defined(CONFIG_BLUEDROID_ENABLED)
#include "esp_gatts_api.h"
typedef void (*gatts_event_handler)(esp_gatts_cb_event_t event, esp_gatt_if_t gattc_if, esp_ble_gatts_cb_param_t *param);
#else
struct ble_gap_conn_desc;
#endif

class BLEServer;
class BLECharacteristic;

class BLEDescriptor {};

class BLEServerCallbacks {
public:
    virtual ~BLEServerCallbacks() {}
    virtual void onConnect(BLEServer *) {}
    virtual void onDisconnect(BLEServer *) {}
#if defined(CONFIG_BLUEDROID_ENABLED)
    virtual void onMtuChanged(BLEServer *, esp_ble_gatts_cb_param_t *) {}
#else
    virtual void onMtuChanged(BLEServer *, ble_gap_conn_desc *, uint16_t) {}
#endif
};

class BLECharacteristicCallbacks {
public:
    virtual ~BLECharacteristicCallbacks() {}
    virtual void onWrite(BLECharacteristic *) {}
#if defined(CONFIG_BLUEDROID_ENABLED)
    virtual void onWrite(BLECharacteristic *characteristic, esp_ble_gatts_cb_param_t *) { onWrite(characteristic); }
#else
    virtual void onWrite(BLECharacteristic *characteristic, ble_gap_conn_desc *) { onWrite(characteristic); }
#endif
};

class BLECharacteristic {
public:
#if defined(CONFIG_BLUEDROID_ENABLED)
    static const uint32_t PROPERTY_READ = 1 << 0;
    static const uint32_t PROPERTY_WRITE = 1 << 1;
    static const uint32_t PROPERTY_NOTIFY = 1 << 2;
#else
    static const uint32_t PROPERTY_READ = 0x02;
    static const uint32_t PROPERTY_WRITE = 0x08;
    static const uint32_t PROPERTY_NOTIFY = 0x10;
#endif

    void addDescriptor(BLEDescriptor *pDescriptor);
    void setCallbacks(BLECharacteristicCallbacks *pCallbacks);
    uint16_t getHandle() const;
    uint8_t *getData();
    size_t getLength() const;
    void setValue(const uint8_t *data, size_t size);
    void notify(bool is_notification = true);
};

class BLEService {
public:
    BLECharacteristic *createCharacteristic(const char *uuid, uint32_t properties);
    void start();
};

class BLEServer {
public:
    void setCallbacks(BLEServerCallbacks *pCallbacks);
    BLEService *createService(const char *uuid);
    void startAdvertising();
};

class BLEAdvertising {
public:
    void addServiceUUID(const char *serviceUUID);
};

class BLEDevice {
public:
    static void init(String deviceName);
    static esp_err_t setMTU(uint16_t mtu);
    static BLEServer *createServer();
    static BLEAdvertising *getAdvertising();
    static void startAdvertising();
#if defined(CONFIG_BLUEDROID_ENABLED)
    static void setCustomGattsHandler(gatts_event_handler handler);
#endif
};
