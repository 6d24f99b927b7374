#pragma once

#include "BLEDevice.h"

#if defined(CONFIG_NIMBLE_ENABLED)
class [[deprecated("NimBLE adds this descriptor itself")]] BLE2902 : public BLEDescriptor {};
#else
class BLE2902 : public BLEDescriptor {};
#endif
