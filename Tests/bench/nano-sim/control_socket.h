#ifndef NANO_SIM_CONTROL_SOCKET_H
#define NANO_SIM_CONTROL_SOCKET_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "envelope.h"
#include "verbs.h"

// A Unix socket at which other programs do the verbs: what `pumpctl sim --control` offers, and `pumpctl sim ctl` speaks to.

enum { control_client_limit = 32, control_request_limit = 1 << 14 };

struct control_client {
    // -1 where there is none.
    int descriptor;
    // With the end of the line.
    char input[control_request_limit + 1];
    size_t input_length;
    // It sends no more.
    bool ended;
    // It was told that its request is too long, and is hung up on.
    bool is_refused;

    // What it has not taken, to be freed; NULL when it has taken all. Until then nothing is done for it.
    char *output;
    size_t output_begin, output_length;

    // What its request is called, which is answered once `hands->ended` has come so far; NULL if none is under way.
    json_t *awaiting;
    uint64_t awaited;
};

struct control_socket {
    struct hands *hands;
    // -1 where there is none.
    int listener;
    const char *path;
    // The socket's node: another program may put its own in its place.
    dev_t device;
    ino_t node;
    struct control_client clients[control_client_limit];
};

// Begins to listen, or does nothing where `path` is NULL. A socket that nobody listens at any more is replaced. False, with a
// message on stderr, if that fails.
bool control_open(struct control_socket *socket, struct hands *hands, const char *path);

// Answers what is due, then does what was asked for, as far as the hands are free; never blocks.
void control_step(struct control_socket *socket);

// Writes what to wait for until there is something to do; returns how many sources that are, at most
// 1 + control_client_limit.
size_t control_sources(const struct control_socket *socket, struct pollfd *sources);

// Stops listening, removes the socket unless another has taken its place, and hangs up.
void control_close(struct control_socket *socket);

#endif
