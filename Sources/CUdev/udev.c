// libudev, loaded at the first use: loading it takes nine system calls, and few commands look for ports.
#include "CUdev.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>

#define FUNCTIONS(F) \
    F(struct udev *, udev_unref, (struct udev * udev), (udev)) \
    F(struct udev_enumerate *, udev_enumerate_new, (struct udev * udev), (udev)) \
    F(struct udev_enumerate *, udev_enumerate_unref, (struct udev_enumerate * all), (all)) \
    F(int, udev_enumerate_add_match_subsystem, (struct udev_enumerate * all, const char *subsystem), (all, subsystem)) \
    F(int, udev_enumerate_scan_devices, (struct udev_enumerate * all), (all)) \
    F(struct udev_list_entry *, udev_enumerate_get_list_entry, (struct udev_enumerate * all), (all)) \
    F(struct udev_list_entry *, udev_list_entry_get_next, (struct udev_list_entry * entry), (entry)) \
    F(const char *, udev_list_entry_get_name, (struct udev_list_entry * entry), (entry)) \
    F(struct udev_monitor *, udev_monitor_new_from_netlink, (struct udev * udev, const char *name), (udev, name)) \
    F(struct udev_monitor *, udev_monitor_unref, (struct udev_monitor * monitor), (monitor)) \
    F(int, udev_monitor_filter_add_match_subsystem_devtype, \
        (struct udev_monitor * monitor, const char *subsystem, const char *type), (monitor, subsystem, type)) \
    F(int, udev_monitor_enable_receiving, (struct udev_monitor * monitor), (monitor)) \
    F(int, udev_monitor_get_fd, (struct udev_monitor * monitor), (monitor)) \
    F(struct udev_device *, udev_monitor_receive_device, (struct udev_monitor * monitor), (monitor)) \
    F(struct udev_device *, udev_device_new_from_syspath, (struct udev * udev, const char *path), (udev, path)) \
    F(struct udev_device *, udev_device_unref, (struct udev_device * device), (device)) \
    F(struct udev_device *, udev_device_get_parent, (struct udev_device * device), (device)) \
    F(struct udev_device *, udev_device_get_parent_with_subsystem_devtype, \
        (struct udev_device * device, const char *subsystem, const char *type), (device, subsystem, type)) \
    F(const char *, udev_device_get_action, (struct udev_device * device), (device)) \
    F(const char *, udev_device_get_devnode, (struct udev_device * device), (device)) \
    F(const char *, udev_device_get_driver, (struct udev_device * device), (device)) \
    F(const char *, udev_device_get_property_value, (struct udev_device * device, const char *key), (device, key)) \
    F(const char *, udev_device_get_subsystem, (struct udev_device * device), (device)) \
    F(const char *, udev_device_get_sysattr_value, (struct udev_device * device, const char *name), (device, name)) \
    F(const char *, udev_device_get_sysname, (struct udev_device * device), (device)) \
    F(const char *, udev_device_get_syspath, (struct udev_device * device), (device))

#define POINTER(result, name, parameters, arguments) result(*name) parameters;
static struct {
    struct udev *(*udev_new)(void);
    FUNCTIONS(POINTER)
} library;

#define SYMBOL(result, name, parameters, arguments) if (!(library.name = dlsym(handle, #name))) return;
static void load(void) {
    void *handle = dlopen("libudev.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!handle) return;
    FUNCTIONS(SYMBOL)
    library.udev_new = dlsym(handle, "udev_new");
}

struct udev *udev_new(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    if (library.udev_new) return library.udev_new();
    errno = ELIBACC;
    return NULL;
}

// Without the library, udev_new returns NULL. All other functions take objects that come from udev_new, so they check
// nothing.
#define CALL(result, name, parameters, arguments) result name parameters { return library.name arguments; }
FUNCTIONS(CALL)
