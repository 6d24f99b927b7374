#include "central.h"

#include "board.h"
#include "fake/core.h"

const char liveUuid[] = "1C95D5E3-D8F7-413A-BF3D-7A2E5D7BE87E";
const char backupUuid[] = "BEB5483E-36E1-4688-B7F5-EA07361B26A8";

static void dispatch(esp_gatts_cb_event_t event, esp_ble_gatts_cb_param_t &param) {
    if (core.gattsHandler != nullptr) {
        core.gattsHandler(event, 3, &param);
    }
}

void connect() {
    esp_ble_gatts_cb_param_t param = {};
    if (core.serverCallbacks != nullptr) {
        core.serverCallbacks->onConnect(core.server);
    }
    dispatch(ESP_GATTS_CONNECT_EVT, param);
}

void disconnect() {
    esp_ble_gatts_cb_param_t param = {};
    if (core.serverCallbacks != nullptr) {
        core.serverCallbacks->onDisconnect(core.server);
    }
    dispatch(ESP_GATTS_DISCONNECT_EVT, param);
}

void agreeOn(uint16_t mtu) {
    esp_ble_gatts_cb_param_t param = {};
    param.mtu.mtu = mtu;
    if (core.serverCallbacks != nullptr) {
        core.serverCallbacks->onMtuChanged(core.server, &param);
    }
    dispatch(ESP_GATTS_MTU_EVT, param);
}

void write(std::string bytes, const char *meanwhile, bool isPrepared) {
    BLECharacteristic *backup = core.find(backupUuid);
    esp_ble_gatts_cb_param_t param = {};
    param.write.handle = backup->getHandle();
    param.write.is_prep = isPrepared;
    param.write.len = uint16_t(bytes.size());
    param.write.value = reinterpret_cast<uint8_t *>(&bytes[0]);
    if (!isPrepared) {
        backup->setValue(param.write.value, param.write.len);
    }
    if (meanwhile != nullptr) {
        BleOutput().write(meanwhile, strlen(meanwhile));
    }
    BLECharacteristicCallbacks *callbacks = core.characteristics[backup].callbacks;
    if (!isPrepared && callbacks != nullptr) {
        callbacks->onWrite(backup, &param);
    }
    dispatch(ESP_GATTS_WRITE_EVT, param);
}

std::string notified(const char *uuid) {
    std::string &text = core.characteristics[core.find(uuid)].notified;
    std::string taken = text;
    text.clear();
    return taken;
}
