#pragma once

// The parts of ESP-IDF's Bluedroid that the sketches use.

#include <stdint.h>

typedef uint8_t esp_gatt_if_t;

typedef enum {
    ESP_GATTS_WRITE_EVT = 2,
    ESP_GATTS_EXEC_WRITE_EVT = 3,
    ESP_GATTS_MTU_EVT = 4,
    ESP_GATTS_CONNECT_EVT = 14,
    ESP_GATTS_DISCONNECT_EVT = 15,
} esp_gatts_cb_event_t;

typedef union {
    struct {
        uint16_t conn_id;
        uint16_t mtu;
    } mtu;
    struct {
        uint16_t conn_id;
        uint32_t trans_id;
        uint8_t bda[6];
        uint16_t handle;
        uint16_t offset;
        bool need_rsp;
        bool is_prep;
        uint16_t len;
        uint8_t *value;
    } write;
} esp_ble_gatts_cb_param_t;
