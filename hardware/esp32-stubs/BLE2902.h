#pragma once

#include "BLEDevice.h"

class BLE2902 : public BLEDescriptor {};
