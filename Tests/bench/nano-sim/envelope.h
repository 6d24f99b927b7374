#ifndef NANO_SIM_ENVELOPE_H
#define NANO_SIM_ENVELOPE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

// The messages at the control socket, one JSON object per line: packaging/schema/simulation.schema.json.
// Returned lines end in '\n', and are freed by the caller.

enum { request_argument_limit = 4 };

struct request {
    // The request's id; JSON's null if the line has no valid one.
    json_t *id;
    // The whole parsed line, which owns the texts below.
    json_t *whole;
    const char *verb;
    const char *arguments[request_argument_limit];
    // The number of arguments, including those beyond `arguments`.
    size_t argument_count;
    // The number of the device; 0 if none is named.
    json_int_t device;
    bool has_device;
};

// The reason why a request was not performed. `message` and `hint` are allocated; `envelope_refusal` frees them.
struct failure {
    // `usage` or `no_such_device`.
    const char *code;
    char *message;
    // NULL for none.
    char *hint;
};

// Parses a line. False if it is not a request, with the reason in `failure`. Call `request_free` in either case.
bool request_read(const char *line, size_t length, struct request *request, struct failure *failure);
void request_free(struct request *request);

// The first line for each client, with the family and the number of devices.
char *envelope_hello(void);

// The reply to a performed request. Contains the board's `state`, unless that is NULL. Releases `state`.
char *envelope_response(json_t *id, json_t *state);

// The reply to a refused request, which had no effect. Frees the texts of the failure.
char *envelope_refusal(json_t *id, struct failure *failure);

#endif
