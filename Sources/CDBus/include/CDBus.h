// libdbus-1 for Swift. What it adds: watches kept where they can be asked for, a message's header read by one call, and
// the header files found without a search path that every target above would have to know.
//
// A connection and its messages are used by one thread at a time. Where a function returns false, memory or descriptors
// have run out.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct cdbus_connection cdbus_connection;
typedef struct cdbus_message cdbus_message;

typedef struct {
    char name[256];
    char message[512];
} cdbus_error;

// MARK: Connections

/// Connects and begins to authenticate; NULL where there is nothing to connect to. Closed with `cdbus_close`.
cdbus_connection *cdbus_open(const char *address, cdbus_error *error);
void cdbus_close(cdbus_connection *connection);

/// The descriptor to wait on, open until `cdbus_close`.
int cdbus_descriptor(const cdbus_connection *connection);
/// What to wait for: POLLIN, POLLOUT, or both.
short cdbus_interest(const cdbus_connection *connection);
/// Reads and writes as `poll` reported.
void cdbus_handle(cdbus_connection *connection, short events);
/// Whether messages wait to be popped, or bytes to be made into messages.
bool cdbus_has_messages(cdbus_connection *connection);
/// The next message that has arrived, to be given back by `cdbus_release`; NULL if there is none.
cdbus_message *cdbus_pop(cdbus_connection *connection);
bool cdbus_is_connected(cdbus_connection *connection);
bool cdbus_has_unsent(cdbus_connection *connection);
bool cdbus_passes_descriptors(cdbus_connection *connection);
/// The identity of the bus, given back by `cdbus_free`; NULL until the bus has let the user in.
char *cdbus_server_id(cdbus_connection *connection);
bool cdbus_send(cdbus_connection *connection, cdbus_message *message, uint32_t *serial);

// MARK: Messages

enum {
    CDBUS_CALL = 1,
    CDBUS_RETURN = 2,
    CDBUS_ERROR = 3,
    CDBUS_SIGNAL = 4,
};

/// A message's header; the strings live as long as the message, and may be NULL.
typedef struct {
    int type;
    uint32_t serial, reply_serial;
    bool wants_no_reply;
    const char *sender, *path, *interface, *member, *error_name, *signature;
} cdbus_header;

void cdbus_release(cdbus_message *message);
void cdbus_read_header(cdbus_message *message, cdbus_header *header);

/// A call; `destination` and `interface` may be NULL. All names must be valid.
cdbus_message *cdbus_new_call(const char *destination, const char *path, const char *interface, const char *member);
cdbus_message *cdbus_new_signal(const char *path, const char *interface, const char *member);
/// The answer to the call of that serial number; an error where it has a name. `destination` may be NULL.
cdbus_message *cdbus_new_reply(uint32_t serial, const char *destination, const char *error_name);
bool cdbus_set_destination(cdbus_message *message, const char *destination);
void cdbus_set_flags(cdbus_message *message, bool wants_no_reply, bool starts_service, bool may_ask_user);

// MARK: Contents

/// libdbus's iterator; its fields are its own.
typedef struct {
    uint64_t words[9];
} cdbus_iterator;

/// The first argument; false if there is none.
bool cdbus_begin_reading(cdbus_message *message, cdbus_iterator *iterator);
/// The code of the type at the iterator; 0 behind the last.
int cdbus_type(cdbus_iterator *iterator);
int cdbus_element_type(cdbus_iterator *iterator);
bool cdbus_next(cdbus_iterator *iterator);
void cdbus_enter(cdbus_iterator *container, cdbus_iterator *inner);
/// Reads a value that is no container: at most 8 bytes. Strings stay the message's; a descriptor is the caller's.
void cdbus_read_basic(cdbus_iterator *iterator, void *value);
/// The elements of the array of numbers that `array` is.
void cdbus_read_fixed(cdbus_iterator *array, const void **elements, int *count);
/// The signature of what is at the iterator, given back by `cdbus_free`.
char *cdbus_signature(cdbus_iterator *iterator);
void cdbus_free(char *text);

void cdbus_begin_writing(cdbus_message *message, cdbus_iterator *iterator);
bool cdbus_write_basic(cdbus_iterator *iterator, int type, const void *value);
bool cdbus_write_bytes(cdbus_iterator *array, const uint8_t *bytes, int count);
/// Begins an array or a variant, whose contents have that signature, or a structure or a dictionary's entry (NULL).
bool cdbus_open_container(cdbus_iterator *iterator, int type, const char *contents, cdbus_iterator *inner);
bool cdbus_close_container(cdbus_iterator *iterator, cdbus_iterator *inner);
void cdbus_abandon_container(cdbus_iterator *iterator, cdbus_iterator *inner);

// MARK: Names

bool cdbus_is_path(const char *text);
bool cdbus_is_signature(const char *text);
bool cdbus_is_interface(const char *text);
bool cdbus_is_member(const char *text);
bool cdbus_is_error_name(const char *text);
bool cdbus_is_bus_name(const char *text);

/// The library's version, as 1.14.10.
void cdbus_version(int *major, int *minor, int *micro);

/// The computer's identity, given back by `cdbus_free`; NULL if it has none.
char *cdbus_machine_id(void);
