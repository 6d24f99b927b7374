#pragma once

// The real header is generated for each chip. Here the compiler's command line selects the chip and its BLE stack:
// -DCONFIG_IDF_TARGET_ESP32=1 -DCONFIG_BLUEDROID_ENABLED=1, or -DCONFIG_IDF_TARGET_ESP32S3=1 -DCONFIG_NIMBLE_ENABLED=1.
