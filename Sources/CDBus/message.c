#include "CDBus.h"

#include <dbus/dbus.h>

static DBusMessage *inner(cdbus_message *message) { return (DBusMessage *)message; }
static cdbus_message *outer(DBusMessage *message) { return (cdbus_message *)message; }

void cdbus_release(cdbus_message *message) { dbus_message_unref(inner(message)); }

void cdbus_read_header(cdbus_message *message, cdbus_header *header) {
    DBusMessage *source = inner(message);
    *header = (cdbus_header){
        .type = dbus_message_get_type(source),
        .serial = dbus_message_get_serial(source),
        .reply_serial = dbus_message_get_reply_serial(source),
        .wants_no_reply = dbus_message_get_no_reply(source),
        .sender = dbus_message_get_sender(source),
        .path = dbus_message_get_path(source),
        .interface = dbus_message_get_interface(source),
        .member = dbus_message_get_member(source),
        .error_name = dbus_message_get_error_name(source),
        .signature = dbus_message_get_signature(source),
    };
}

cdbus_message *cdbus_new_call(const char *destination, const char *path, const char *interface, const char *member) {
    return outer(dbus_message_new_method_call(destination, path, interface, member));
}

cdbus_message *cdbus_new_signal(const char *path, const char *interface, const char *member) {
    return outer(dbus_message_new_signal(path, interface, member));
}

cdbus_message *cdbus_new_reply(uint32_t serial, const char *destination, const char *error_name) {
    DBusMessage *message = dbus_message_new(error_name ? DBUS_MESSAGE_TYPE_ERROR : DBUS_MESSAGE_TYPE_METHOD_RETURN);
    if (!message) return NULL;
    dbus_message_set_no_reply(message, TRUE);
    if (dbus_message_set_reply_serial(message, serial) && dbus_message_set_destination(message, destination) &&
        dbus_message_set_error_name(message, error_name))
        return outer(message);
    dbus_message_unref(message);
    return NULL;
}

bool cdbus_set_destination(cdbus_message *message, const char *destination) {
    return dbus_message_set_destination(inner(message), destination);
}

void cdbus_set_flags(cdbus_message *message, bool wants_no_reply, bool starts_service, bool may_ask_user) {
    dbus_message_set_no_reply(inner(message), wants_no_reply);
    dbus_message_set_auto_start(inner(message), starts_service);
    dbus_message_set_allow_interactive_authorization(inner(message), may_ask_user);
}
