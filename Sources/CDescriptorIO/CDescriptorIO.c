#include "CDescriptorIO.h"
