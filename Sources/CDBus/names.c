#include "CDBus.h"

#include <dbus/dbus.h>

bool cdbus_is_path(const char *text) { return dbus_validate_path(text, NULL); }
bool cdbus_is_signature(const char *text) { return dbus_signature_validate(text, NULL); }
bool cdbus_is_interface(const char *text) { return dbus_validate_interface(text, NULL); }
bool cdbus_is_member(const char *text) { return dbus_validate_member(text, NULL); }
bool cdbus_is_error_name(const char *text) { return dbus_validate_error_name(text, NULL); }
bool cdbus_is_bus_name(const char *text) { return dbus_validate_bus_name(text, NULL); }

char *cdbus_machine_id(void) { return dbus_try_get_local_machine_id(NULL); }

void cdbus_version(int *major, int *minor, int *micro) { dbus_get_version(major, minor, micro); }
