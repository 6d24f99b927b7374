#ifndef NANO_SIM_ENVELOPE_H
#define NANO_SIM_ENVELOPE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

// What is said at the control socket, one JSON object a line: packaging/schema/simulation.schema.json.
// Lines that are returned end in '\n', and are to be freed.

enum { request_argument_limit = 4 };

struct request {
    // Null where it can't be told what the request is called.
    json_t *id;
    // The texts live as long as this.
    json_t *whole;
    const char *verb;
    const char *arguments[request_argument_limit];
    // How many there are, also beyond `arguments`.
    size_t argument_count;
    // The number of the device; 0 where none is named.
    json_int_t device;
    bool has_device;
};

// Why a request was not done; both to be freed.
struct failure {
    const char *code;
    char *message;
    // NULL for none.
    char *hint;
};

// Reads a line. False if it is no request; then `failure` says why. Either way `request_free` it.
bool request_read(const char *line, size_t length, struct request *request, struct failure *failure);
void request_free(struct request *request);

// The first line: which devices there are.
char *envelope_hello(void);

// The request was done. `state` may be NULL, and is freed.
char *envelope_response(json_t *id, json_t *state);

// The request was not done, and nothing was. Frees the failure.
char *envelope_refusal(json_t *id, struct failure *failure);

#endif
