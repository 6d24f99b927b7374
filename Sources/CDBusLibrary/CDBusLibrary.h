// Nobody imports this module: CDBus depends on it for the flags that pkg-config gives.
#pragma once

#include <dbus/dbus.h>
