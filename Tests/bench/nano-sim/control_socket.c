#define _GNU_SOURCE

#include "control_socket.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "text.h"

// Opening.

// Removes the leftover of a killed program: a socket that refuses connections.
static void remove_stale(const struct sockaddr_un *address) {
    struct stat status;
    if (lstat(address->sun_path, &status) != 0 || !S_ISSOCK(status.st_mode)) {
        return;
    }
    int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (connect(descriptor, (const struct sockaddr *)address, sizeof *address) != 0 && errno == ECONNREFUSED) {
        unlink(address->sun_path);
    }
    close(descriptor);
}

static int listen_at(const struct sockaddr_un *address) {
    int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    // The permissions are set before the socket has a name, so that no other user connects in between.
    if (descriptor >= 0 && fchmod(descriptor, S_IRUSR | S_IWUSR) == 0 &&
        bind(descriptor, (const struct sockaddr *)address, sizeof *address) == 0 && listen(descriptor, SOMAXCONN) == 0) {
        return descriptor;
    }
    int error = errno;
    close(descriptor);
    errno = error;
    return -1;
}

bool control_open(struct control_socket *control, struct hands *hands, const char *path) {
    control->hands = hands;
    control->listener = -1;
    for (size_t i = 0; i < control_client_limit; i++) {
        control->clients[i].descriptor = -1;
    }
    if (path == NULL) {
        return true;
    }
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) {
        fprintf(stderr, "nano-sim: the path of the control socket is too long\n");
        return false;
    }
    strcpy(address.sun_path, path);
    remove_stale(&address);
    control->listener = listen_at(&address);
    struct stat status;
    if (control->listener < 0 || stat(path, &status) != 0) {
        fprintf(stderr, "nano-sim: cannot make the control socket %s: %s\n", path, strerror(errno));
        return false;
    }
    control->path = path;
    control->device = status.st_dev;
    control->node = status.st_ino;
    return true;
}

// Clients.

static void hang_up(struct control_client *client) {
    close(client->descriptor);
    free(client->output);
    json_decref(client->awaiting);
    *client = (struct control_client){.descriptor = -1};
}

// Sends as much of the pending output as the client accepts. False if the client is gone.
static bool flush_output(struct control_client *client) {
    while (client->output != NULL) {
        ssize_t count = send(client->descriptor, client->output + client->output_begin,
                             client->output_length - client->output_begin, MSG_NOSIGNAL);
        if (count < 0) {
            return errno == EAGAIN || errno == EINTR;
        }
        client->output_begin += (size_t)count;
        if (client->output_begin == client->output_length) {
            free(client->output);
            client->output = NULL;
        }
    }
    return true;
}

// Sends a line, and takes ownership of it.
static void say(struct control_client *client, char *line) {
    client->output = line;
    client->output_begin = 0;
    client->output_length = strlen(line);
    flush_output(client);
}

static void accept_clients(struct control_socket *control) {
    for (size_t i = 0; i < control_client_limit; i++) {
        struct control_client *client = &control->clients[i];
        if (client->descriptor < 0) {
            client->descriptor = accept4(control->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
            if (client->descriptor < 0) {
                return;
            }
            say(client, envelope_hello());
        }
    }
}

// Reads input as far as there is room.
static void read_input(struct control_client *client) {
    while (!client->ended && client->input_length < sizeof client->input) {
        ssize_t count =
            recv(client->descriptor, client->input + client->input_length, sizeof client->input - client->input_length, 0);
        if (count > 0) {
            client->input_length += (size_t)count;
        } else if (count < 0 && (errno == EAGAIN || errno == EINTR)) {
            return;
        } else {
            client->ended = true;
        }
    }
}

// Requests.

static struct failure usage(char *message) {
    return (struct failure){.code = "usage", .message = message};
}

// Performs the verb of a request, or begins a verb that takes time. False if nothing was done, with the reason in
// `failure`.
static bool perform(struct hands *hands, const struct request *request, struct failure *failure) {
    bool is_stop = strcmp(request->verb, "stop") == 0;
    if (is_stop && request->has_device) {
        *failure = usage(text_append(NULL, "'stop' ends the simulator, and takes no device"));
        return false;
    }
    if (request->has_device && request->device != 1) {
        *failure = (struct failure){
            .code = "no_such_device",
            .message = text_append(NULL, "there is no device %" JSON_INTEGER_FORMAT, request->device),
            .hint = text_append(NULL, "use the number 1"),
        };
        return false;
    }
    const struct verb *verb = verb_named(request->verb);
    if (verb == NULL) {
        *failure = usage(text_append(NULL, "the device has no verb '%s'", request->verb));
        char *names = verb_names();
        failure->hint = text_append(NULL, "use one of: %s", names);
        free(names);
        return false;
    }
    char *text = NULL;
    if (!hands_perform(hands, verb, request->arguments, request->argument_count, &text)) {
        *failure = usage(text);
        return false;
    }
    free(text);
    return true;
}

// The state for a reply: none after `stop`.
static json_t *state_behind(const struct hands *hands) {
    return hands->stop ? NULL : hands_see(hands);
}

static void obey(struct hands *hands, struct control_client *client, const char *line, size_t length) {
    struct request request;
    struct failure failure;
    if (!request_read(line, length, &request, &failure) || !perform(hands, &request, &failure)) {
        say(client, envelope_refusal(request.id, &failure));
    } else if (hands_are_busy(hands)) {
        client->awaiting = json_incref(request.id);
        client->awaited = hands->begun;
    } else {
        say(client, envelope_response(request.id, state_behind(hands)));
    }
    request_free(&request);
}

// Handles the first complete line of input. False if there is none.
static bool obey_line(struct hands *hands, struct control_client *client) {
    char *end = memchr(client->input, '\n', client->input_length);
    if (end == NULL) {
        return false;
    }
    size_t length = (size_t)(end - client->input);
    obey(hands, client, client->input, length);
    client->input_length -= length + 1;
    memmove(client->input, end + 1, client->input_length);
    return true;
}

static void refuse_length(struct control_client *client) {
    struct failure failure = usage(text_append(NULL, "a request has at most %d bytes", control_request_limit));
    say(client, envelope_refusal(json_null(), &failure));
}

static void serve(struct hands *hands, struct control_client *client) {
    if (!flush_output(client)) {
        hang_up(client);
        return;
    }
    if (client->awaiting != NULL && hands->ended >= client->awaited) {
        say(client, envelope_response(client->awaiting, state_behind(hands)));
        json_decref(client->awaiting);
        client->awaiting = NULL;
    }
    read_input(client);
    bool has_line = true;
    while (has_line && client->output == NULL && client->awaiting == NULL && !hands_are_busy(hands) && !hands->stop) {
        has_line = obey_line(hands, client);
    }
    if (has_line || client->output != NULL || client->awaiting != NULL) {
        return;
    }
    // The input contains no complete line, and none can come if it fills the buffer or the client has stopped sending.
    if (client->input_length == sizeof client->input && !client->is_refused) {
        client->is_refused = true;
        refuse_length(client);
    }
    if ((client->ended || client->is_refused) && client->output == NULL) {
        hang_up(client);
    }
}

void control_step(struct control_socket *control) {
    if (control->listener < 0) {
        return;
    }
    accept_clients(control);
    for (size_t i = 0; i < control_client_limit; i++) {
        if (control->clients[i].descriptor >= 0) {
            serve(control->hands, &control->clients[i]);
        }
    }
}

size_t control_sources(const struct control_socket *control, struct pollfd *sources) {
    size_t count = 0;
    bool has_room = false;
    for (size_t i = 0; i < control_client_limit; i++) {
        const struct control_client *client = &control->clients[i];
        if (client->descriptor < 0) {
            has_room = true;
        } else {
            bool is_reading = !client->ended && client->input_length < sizeof client->input;
            short events = (short)((is_reading ? POLLIN : 0) | (client->output != NULL ? POLLOUT : 0));
            sources[count++] = (struct pollfd){.fd = client->descriptor, .events = events};
        }
    }
    if (has_room) {
        sources[count++] = (struct pollfd){.fd = control->listener, .events = POLLIN};
    }
    return count;
}

void control_close(struct control_socket *control) {
    if (control->listener < 0) {
        return;
    }
    struct stat status;
    if (stat(control->path, &status) == 0 && status.st_dev == control->device && status.st_ino == control->node) {
        unlink(control->path);
    }
    close(control->listener);
    for (size_t i = 0; i < control_client_limit; i++) {
        if (control->clients[i].descriptor >= 0) {
            flush_output(&control->clients[i]);
            hang_up(&control->clients[i]);
        }
    }
}
