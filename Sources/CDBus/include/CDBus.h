// libdbus-1 for Swift. libdbus asks for polling by callbacks; the wrapper stores these requests, so that the caller can
// query them: see `cdbus_interest`. One call reads a message's header. Targets that import this module need no include
// path of libdbus.
//
// One thread at a time may use a connection and its messages. If memory or descriptors are exhausted, a function that
// returns `bool` for success returns false, and a function that creates a message returns NULL.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct cdbus_connection cdbus_connection;
typedef struct cdbus_message cdbus_message;

/// An error of libdbus: its D-Bus name and its text, both cut to the size of the field.
typedef struct {
    char name[256];
    char message[512];
} cdbus_error;

// MARK: Connections

/// Connects and begins to authenticate. Returns NULL, and fills in `error`, on failure. Release with `cdbus_close`.
cdbus_connection *cdbus_open(const char *address, cdbus_error *error);
/// Closes the connection and releases its memory.
void cdbus_close(cdbus_connection *connection);

/// The descriptor to poll. It stays open until `cdbus_close`.
int cdbus_descriptor(const cdbus_connection *connection);
/// The events to poll for: POLLIN, POLLOUT, both or none. Query again after each other call.
short cdbus_interest(const cdbus_connection *connection);
/// Reads and writes according to the events that `poll` reported.
void cdbus_handle(cdbus_connection *connection, short events);
/// Whether `cdbus_pop` may return a message: received messages are queued, or received bytes await parsing.
bool cdbus_has_messages(cdbus_connection *connection);
/// The next received message, or NULL if there is none. Release with `cdbus_release`.
cdbus_message *cdbus_pop(cdbus_connection *connection);
/// Whether the connection is still open.
bool cdbus_is_connected(cdbus_connection *connection);
/// Whether messages are queued for sending.
bool cdbus_has_unsent(cdbus_connection *connection);
/// Whether file descriptors can be sent. Authentication decides this.
bool cdbus_passes_descriptors(cdbus_connection *connection);
/// The GUID of the bus, or NULL before authentication has finished. Release with `cdbus_free`.
char *cdbus_server_id(cdbus_connection *connection);
/// Queues `message` for sending, and stores its serial number in `serial`.
bool cdbus_send(cdbus_connection *connection, cdbus_message *message, uint32_t *serial);

// MARK: Messages

/// The type of a message, with the numbers of the D-Bus specification.
enum {
    CDBUS_CALL = 1,
    CDBUS_RETURN = 2,
    CDBUS_ERROR = 3,
    CDBUS_SIGNAL = 4,
};

/// A message's header. The strings live as long as the message; each may be NULL.
typedef struct {
    int type;
    uint32_t serial, reply_serial;
    bool wants_no_reply;
    const char *sender, *path, *interface, *member, *error_name, *signature;
} cdbus_header;

/// Releases a message.
void cdbus_release(cdbus_message *message);
/// Reads all fields of the header.
void cdbus_read_header(cdbus_message *message, cdbus_header *header);

/// Creates a method call. `destination` and `interface` may be NULL. All names must be valid.
cdbus_message *cdbus_new_call(const char *destination, const char *path, const char *interface, const char *member);
/// Creates a signal. All names must be valid.
cdbus_message *cdbus_new_signal(const char *path, const char *interface, const char *member);
/// Creates the reply to the call with this serial number: an error if `error_name` is not NULL. `destination` may be
/// NULL.
cdbus_message *cdbus_new_reply(uint32_t serial, const char *destination, const char *error_name);
/// Sets the destination, which makes a signal unicast.
bool cdbus_set_destination(cdbus_message *message, const char *destination);
/// Sets the flags of a call.
///
/// `starts_service`: the bus may start the service. `may_ask_user`: the called program may ask the user for
/// authorization.
void cdbus_set_flags(cdbus_message *message, bool wants_no_reply, bool starts_service, bool may_ask_user);

// MARK: Contents

/// Memory for libdbus's iterator. Callers must not access `words`.
typedef struct {
    uint64_t words[9];
} cdbus_iterator;

/// Sets the iterator to the first argument. Returns false if the message has no arguments.
bool cdbus_begin_reading(cdbus_message *message, cdbus_iterator *iterator);
/// The code of the type at the iterator, or 0 after the last value.
int cdbus_type(cdbus_iterator *iterator);
/// The code of the element type of the array at the iterator.
int cdbus_element_type(cdbus_iterator *iterator);
/// Advances to the next value of the same level. Returns false if there is none.
bool cdbus_next(cdbus_iterator *iterator);
/// Sets `inner` to the first value inside of a container.
void cdbus_enter(cdbus_iterator *container, cdbus_iterator *inner);
/// Reads a value of a basic type, at most 8 bytes. The message keeps ownership of a string; the caller owns a
/// descriptor.
void cdbus_read_basic(cdbus_iterator *iterator, void *value);
/// The elements of an array of numbers, in the message's memory. `count` is the number of elements.
void cdbus_read_fixed(cdbus_iterator *array, const void **elements, int *count);
/// The signature of the value at the iterator. Release with `cdbus_free`.
char *cdbus_signature(cdbus_iterator *iterator);
/// Releases a string that a function of this header returned.
void cdbus_free(char *text);

/// Sets the iterator to the end of the message's arguments.
void cdbus_begin_writing(cdbus_message *message, cdbus_iterator *iterator);
/// Appends a value of a basic type; `value` points to it.
bool cdbus_write_basic(cdbus_iterator *iterator, int type, const void *value);
/// Appends bytes to an open array of bytes.
bool cdbus_write_bytes(cdbus_iterator *array, const uint8_t *bytes, int count);
/// Opens a container. `contents` is the signature of the contents of an array or a variant, and NULL for a structure or
/// a dictionary entry.
bool cdbus_open_container(cdbus_iterator *iterator, int type, const char *contents, cdbus_iterator *inner);
/// Closes a container that is complete.
bool cdbus_close_container(cdbus_iterator *iterator, cdbus_iterator *inner);
/// Closes a container after a failed append. The message is then unusable.
void cdbus_abandon_container(cdbus_iterator *iterator, cdbus_iterator *inner);

// MARK: Names

/// Whether `text` is a valid object path, signature, interface name …, by the rules of the D-Bus specification.
bool cdbus_is_path(const char *text);
bool cdbus_is_signature(const char *text);
bool cdbus_is_interface(const char *text);
bool cdbus_is_member(const char *text);
bool cdbus_is_error_name(const char *text);
bool cdbus_is_bus_name(const char *text);

/// The version of libdbus, such as 1.14.10.
void cdbus_version(int *major, int *minor, int *micro);

/// The machine ID of this computer, or NULL if it has none. Release with `cdbus_free`.
char *cdbus_machine_id(void);
