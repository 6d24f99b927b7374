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
    // Whether the client was informed that its request is too long, and will be hung up on.
    bool is_refused;

    // The unsent output, to be freed; NULL if everything was sent. No other request of the client is handled until
    // then.
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
    // The identity of the socket's node, because another program may replace it.
    dev_t device;
    ino_t node;
    struct control_client clients[control_client_limit];
};

// Begins to listen, or does nothing if `path` is NULL. Replaces a socket without a listener. False, with a message on
// stderr, on failure.
bool control_open(struct control_socket *socket, struct hands *hands, const char *path);

// Sends the replies that are due, then handles requests as far as the hands are free. Never blocks.
void control_step(struct control_socket *socket);

// Writes the events to wait for until there is something to do; returns their number, at most 1 + control_client_limit.
size_t control_sources(const struct control_socket *socket, struct pollfd *sources);

// Stops listening, removes the socket unless another program has replaced it, and hangs up on all clients.
void control_close(struct control_socket *socket);

#endif
