#ifndef NANO_SIM_CONTROL_SOCKET_H
#define NANO_SIM_CONTROL_SOCKET_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "envelope.h"
#include "verbs.h"

// A Unix socket for other programs' verbs, like that of `pumpctl sim --control`; `pumpctl sim ctl` is a client of it.

enum { control_client_limit = 32, control_request_limit = 1 << 14 };

struct control_client {
    // -1 if there is no client.
    int descriptor;
    // Including the line end.
    char input[control_request_limit + 1];
    size_t input_length;
    // Whether the client has stopped sending.
    bool ended;
    // Whether a request of the client was refused as too long. The connection is closed once that reply is sent.
    bool is_refused;

    // The output of which a part is not sent yet, to be freed; NULL if everything was sent. Until then no other request
    // of the client is handled.
    char *output;
    size_t output_begin, output_length;

    // The id of the pending request, whose reply is due once `hands->ended` has reached `awaited`; NULL if there is
    // none.
    json_t *awaiting;
    uint64_t awaited;
};

struct control_socket {
    struct hands *hands;
    // -1 if not listening.
    int listener;
    const char *path;
    // The identity of the socket in the file system, because another program may replace it.
    dev_t device;
    ino_t node;
    struct control_client clients[control_client_limit];
};

// Begins to listen at `path`, or does nothing if it is NULL. A socket there is replaced if no program listens at it.
// False, with a message on stderr, on failure.
bool control_open(struct control_socket *socket, struct hands *hands, const char *path);

// Sends the replies that are due, then handles requests as long as no verb is in progress. Never blocks.
void control_step(struct control_socket *socket);

// Writes the events for which a caller of poll() must wait; returns their number, at most 1 + control_client_limit.
size_t control_sources(const struct control_socket *socket, struct pollfd *sources);

// Stops listening, removes the socket unless another program has replaced it, and hangs up on all clients.
void control_close(struct control_socket *socket);

#endif
