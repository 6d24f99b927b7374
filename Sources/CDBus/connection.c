#include "CDBus.h"

#include <dbus/dbus.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

// A watch is libdbus's request to poll a descriptor, and can be disabled. libdbus uses one watch for reading and one
// for writing, both on the same descriptor.
struct cdbus_connection {
    DBusConnection *connection;
    DBusWatch *reading;
    DBusWatch *writing;
    int descriptor;
    // libdbus closes its own descriptor as soon as the bus hangs up, while the caller's loop still polls it: the caller
    // gets a copy.
    int copy;
};

// The watch functions only store the watches: libdbus calls them with the connection's lock held.
static dbus_bool_t add_watch(DBusWatch *watch, void *data) {
    cdbus_connection *connection = data;
    connection->descriptor = dbus_watch_get_unix_fd(watch);
    if (connection->descriptor < 0) connection->descriptor = dbus_watch_get_socket(watch);
    if (dbus_watch_get_flags(watch) & DBUS_WATCH_READABLE) connection->reading = watch;
    if (dbus_watch_get_flags(watch) & DBUS_WATCH_WRITABLE) connection->writing = watch;
    return TRUE;
}

static void remove_watch(DBusWatch *watch, void *data) {
    cdbus_connection *connection = data;
    if (connection->reading == watch) connection->reading = NULL;
    if (connection->writing == watch) connection->writing = NULL;
}

static void close_connection(DBusConnection *connection) {
    dbus_connection_set_watch_functions(connection, NULL, NULL, NULL, NULL, NULL);
    dbus_connection_close(connection);
    dbus_connection_unref(connection);
}

cdbus_connection *cdbus_open(const char *address, cdbus_error *error) {
    // The program decides on SIGPIPE, not libdbus. libdbus itself sends with MSG_NOSIGNAL.
    dbus_connection_set_change_sigpipe(FALSE);
    DBusError failure = DBUS_ERROR_INIT;
    DBusConnection *opened = dbus_connection_open_private(address, &failure);
    if (!opened) {
        snprintf(error->name, sizeof error->name, "%s", failure.name);
        snprintf(error->message, sizeof error->message, "%s", failure.message);
        dbus_error_free(&failure);
        return NULL;
    }
    dbus_connection_set_exit_on_disconnect(opened, FALSE);
    cdbus_connection *connection = calloc(1, sizeof *connection);
    if (connection &&
        dbus_connection_set_watch_functions(opened, add_watch, remove_watch, NULL, connection, NULL)) {
        connection->connection = opened;
        connection->copy = fcntl(connection->descriptor, F_DUPFD_CLOEXEC, 0);
        if (connection->copy >= 0) return connection;
    }
    close_connection(opened);
    free(connection);
    snprintf(error->name, sizeof error->name, "%s", DBUS_ERROR_NO_MEMORY);
    error->message[0] = 0;
    return NULL;
}

void cdbus_close(cdbus_connection *connection) {
    close_connection(connection->connection);
    close(connection->copy);
    free(connection);
}

int cdbus_descriptor(const cdbus_connection *connection) { return connection->copy; }

short cdbus_interest(const cdbus_connection *connection) {
    short events = 0;
    if (connection->reading && dbus_watch_get_enabled(connection->reading)) events |= POLLIN;
    if (connection->writing && dbus_watch_get_enabled(connection->writing)) events |= POLLOUT;
    return events;
}

void cdbus_handle(cdbus_connection *connection, short events) {
    unsigned ending = events & (POLLERR | POLLNVAL) ? DBUS_WATCH_ERROR : 0;
    if (events & POLLHUP) ending |= DBUS_WATCH_HANGUP;
    unsigned readable = events & POLLIN ? DBUS_WATCH_READABLE : 0;
    if ((readable || ending) && connection->reading) dbus_watch_handle(connection->reading, readable | ending);
    // Reading may have ended the connection and removed the writing watch.
    if (events & POLLOUT && connection->writing) dbus_watch_handle(connection->writing, DBUS_WATCH_WRITABLE);
}

bool cdbus_has_messages(cdbus_connection *connection) {
    return dbus_connection_get_dispatch_status(connection->connection) == DBUS_DISPATCH_DATA_REMAINS;
}

cdbus_message *cdbus_pop(cdbus_connection *connection) {
    return (cdbus_message *)dbus_connection_pop_message(connection->connection);
}

bool cdbus_is_connected(cdbus_connection *connection) {
    return dbus_connection_get_is_connected(connection->connection);
}

bool cdbus_has_unsent(cdbus_connection *connection) {
    return dbus_connection_has_messages_to_send(connection->connection);
}

bool cdbus_passes_descriptors(cdbus_connection *connection) {
    return dbus_connection_can_send_type(connection->connection, DBUS_TYPE_UNIX_FD);
}

char *cdbus_server_id(cdbus_connection *connection) {
    return dbus_connection_get_server_id(connection->connection);
}

bool cdbus_send(cdbus_connection *connection, cdbus_message *message, uint32_t *serial) {
    return dbus_connection_send(connection->connection, (DBusMessage *)message, serial);
}
