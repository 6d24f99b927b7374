#include "CDBus.h"

#include <dbus/dbus.h>

_Static_assert(sizeof(cdbus_iterator) == sizeof(DBusMessageIter), "cdbus_iterator must have DBusMessageIter's size");

static DBusMessageIter *real(cdbus_iterator *iterator) { return (DBusMessageIter *)iterator; }

bool cdbus_begin_reading(cdbus_message *message, cdbus_iterator *iterator) {
    return dbus_message_iter_init((DBusMessage *)message, real(iterator));
}

int cdbus_type(cdbus_iterator *iterator) { return dbus_message_iter_get_arg_type(real(iterator)); }

int cdbus_element_type(cdbus_iterator *iterator) { return dbus_message_iter_get_element_type(real(iterator)); }

bool cdbus_next(cdbus_iterator *iterator) { return dbus_message_iter_next(real(iterator)); }

void cdbus_enter(cdbus_iterator *container, cdbus_iterator *inner) {
    dbus_message_iter_recurse(real(container), real(inner));
}

void cdbus_read_basic(cdbus_iterator *iterator, void *value) { dbus_message_iter_get_basic(real(iterator), value); }

void cdbus_read_fixed(cdbus_iterator *array, const void **elements, int *count) {
    DBusMessageIter inner;
    dbus_message_iter_recurse(real(array), &inner);
    dbus_message_iter_get_fixed_array(&inner, elements, count);
}

char *cdbus_signature(cdbus_iterator *iterator) { return dbus_message_iter_get_signature(real(iterator)); }

void cdbus_free(char *text) { dbus_free(text); }

void cdbus_begin_writing(cdbus_message *message, cdbus_iterator *iterator) {
    dbus_message_iter_init_append((DBusMessage *)message, real(iterator));
}

bool cdbus_write_basic(cdbus_iterator *iterator, int type, const void *value) {
    return dbus_message_iter_append_basic(real(iterator), type, value);
}

bool cdbus_write_bytes(cdbus_iterator *array, const uint8_t *bytes, int count) {
    return dbus_message_iter_append_fixed_array(real(array), DBUS_TYPE_BYTE, &bytes, count);
}

bool cdbus_open_container(cdbus_iterator *iterator, int type, const char *contents, cdbus_iterator *inner) {
    return dbus_message_iter_open_container(real(iterator), type, contents, real(inner));
}

bool cdbus_close_container(cdbus_iterator *iterator, cdbus_iterator *inner) {
    return dbus_message_iter_close_container(real(iterator), real(inner));
}

void cdbus_abandon_container(cdbus_iterator *iterator, cdbus_iterator *inner) {
    dbus_message_iter_abandon_container(real(iterator), real(inner));
}
