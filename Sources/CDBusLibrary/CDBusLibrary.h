// No target imports this module. CDBus depends on it to get the compiler flags of pkg-config.
#pragma once

#include <dbus/dbus.h>
