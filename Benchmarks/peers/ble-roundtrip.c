// The lower bound for a command's round trip over bluetoothd: one WriteValue, and changed values until the line end.
// ble-roundtrip DEVICE CHARACTERISTIC COUNT, where DEVICE and CHARACTERISTIC are object paths. Prints the median and
// the CPU time of a round trip, both in µs.
#include <dbus/dbus.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e6 + t.tv_nsec * 1e-3;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double cpu(void) {
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e6 + u.ru_utime.tv_usec + u.ru_stime.tv_usec;
}

static void fail(const char *what, const char *why) {
    fprintf(stderr, "ble-roundtrip: %s: %s\n", what, why);
    exit(1);
}

static DBusConnection *bus;

static DBusMessage *method(const char *path, const char *interface, const char *member) {
    return dbus_message_new_method_call("org.bluez", path, interface, member);
}

static DBusMessage *call(DBusMessage *message) {
    DBusError error = DBUS_ERROR_INIT;
    DBusMessage *reply = dbus_connection_send_with_reply_and_block(bus, message, 30000, &error);
    if (!reply) fail(dbus_message_get_member(message), error.message);
    dbus_message_unref(message);
    return reply;
}

// Connects to a device, and asks for ServicesResolved until it is true.
static void connect_device(const char *device) {
    const char *interface = "org.bluez.Device1", *name = "ServicesResolved";
    dbus_message_unref(call(method(device, interface, "Connect")));
    dbus_bool_t resolved = FALSE;
    while (!resolved) {
        DBusMessage *get = method(device, "org.freedesktop.DBus.Properties", "Get");
        dbus_message_append_args(get, DBUS_TYPE_STRING, &interface, DBUS_TYPE_STRING, &name, DBUS_TYPE_INVALID);
        DBusMessage *reply = call(get);
        DBusMessageIter variant, value;
        dbus_message_iter_init(reply, &variant);
        dbus_message_iter_recurse(&variant, &value);
        dbus_message_iter_get_basic(&value, &resolved);
        dbus_message_unref(reply);
    }
}

static DBusMessage *write_value(const char *characteristic, const char *text) {
    DBusMessage *message = method(characteristic, "org.bluez.GattCharacteristic1", "WriteValue");
    DBusMessageIter arguments, options, entry, variant;
    const char *key = "type", *type = "command";
    dbus_message_append_args(message, DBUS_TYPE_ARRAY, DBUS_TYPE_BYTE, &text, (int)strlen(text), DBUS_TYPE_INVALID);
    dbus_message_iter_init_append(message, &arguments);
    dbus_message_iter_open_container(&arguments, DBUS_TYPE_ARRAY, "{sv}", &options);
    dbus_message_iter_open_container(&options, DBUS_TYPE_DICT_ENTRY, NULL, &entry);
    dbus_message_iter_append_basic(&entry, DBUS_TYPE_STRING, &key);
    dbus_message_iter_open_container(&entry, DBUS_TYPE_VARIANT, "s", &variant);
    dbus_message_iter_append_basic(&variant, DBUS_TYPE_STRING, &type);
    dbus_message_iter_close_container(&entry, &variant);
    dbus_message_iter_close_container(&options, &entry);
    dbus_message_iter_close_container(&arguments, &options);
    return message;
}

// Returns the number of bytes of a changed Value, and sets `bytes` to them; 0 if only other properties have changed.
static int changed_value(DBusMessage *signal, const char **bytes) {
    DBusMessageIter arguments, changed, entry, variant, array;
    int count = 0;
    dbus_message_iter_init(signal, &arguments);
    dbus_message_iter_next(&arguments);
    for (dbus_message_iter_recurse(&arguments, &changed); dbus_message_iter_get_arg_type(&changed) != DBUS_TYPE_INVALID;
         dbus_message_iter_next(&changed)) {
        const char *name;
        dbus_message_iter_recurse(&changed, &entry);
        dbus_message_iter_get_basic(&entry, &name);
        if (strcmp(name, "Value") != 0) continue;
        dbus_message_iter_next(&entry);
        dbus_message_iter_recurse(&entry, &variant);
        dbus_message_iter_recurse(&variant, &array);
        dbus_message_iter_get_fixed_array(&array, bytes, &count);
    }
    return count;
}

int main(int argc, char **argv) {
    if (argc != 4) return 2;
    const char *device = argv[1], *characteristic = argv[2];
    int count = atoi(argv[3]);
    DBusError error = DBUS_ERROR_INIT;
    bus = dbus_bus_get_private(DBUS_BUS_SYSTEM, &error);
    if (!bus) fail("the bus", error.message);
    connect_device(device);
    char rule[512];
    snprintf(rule, sizeof rule, "type='signal',sender='org.bluez',member='PropertiesChanged',path='%s'", characteristic);
    dbus_bus_add_match(bus, rule, &error);
    if (dbus_error_is_set(&error)) fail("the match rule", error.message);
    dbus_message_unref(call(method(characteristic, "org.bluez.GattCharacteristic1", "StartNotify")));

    double *times = malloc(count * sizeof *times), cpu0 = cpu();
    for (int i = 0; i < count; i++) {
        double start = now();
        DBusMessage *message = write_value(characteristic, "STATUS\n");
        dbus_uint32_t serial;
        dbus_connection_send(bus, message, &serial);
        dbus_message_unref(message);
        int answered = 0, ended = 0;
        while (!answered || !ended) {
            while (!(message = dbus_connection_pop_message(bus)))
                if (!dbus_connection_read_write(bus, -1)) fail("the bus", "gone");
            const char *bytes;
            int length;
            if (dbus_message_get_type(message) == DBUS_MESSAGE_TYPE_ERROR) fail("WriteValue", dbus_message_get_error_name(message));
            if (dbus_message_get_reply_serial(message) == serial) answered = 1;
            else if (dbus_message_is_signal(message, "org.freedesktop.DBus.Properties", "PropertiesChanged") &&
                     (length = changed_value(message, &bytes)) > 0)
                ended = bytes[length - 1] == '\n';
            dbus_message_unref(message);
        }
        times[i] = now() - start;
    }
    double used = cpu() - cpu0;
    qsort(times, count, sizeof *times, ascending);
    printf("%.2f %.2f\n", times[count / 2], used / count);  // median us, CPU us per round trip
    dbus_connection_close(bus);
    return 0;
}
