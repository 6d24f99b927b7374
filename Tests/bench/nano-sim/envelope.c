#include "envelope.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "text.h"

enum { interface_version = 1 };

// Reading.

static bool refuse(struct failure *failure, char *message) {
    *failure = (struct failure){.code = "usage", .message = message};
    return false;
}

static bool read_arguments(json_t *list, struct request *request, struct failure *failure) {
    if (list == NULL) {
        return true;
    }
    bool is_valid = json_is_array(list);
    size_t place;
    json_t *text;
    json_array_foreach(list, place, text) {
        is_valid = is_valid && json_is_string(text);
        if (place < request_argument_limit) {
            request->arguments[place] = json_string_value(text);
        }
    }
    request->argument_count = json_array_size(list);
    return is_valid || refuse(failure, text_append(NULL, "'arguments' must be an array of strings"));
}

static bool read_device(json_t *number, struct request *request, struct failure *failure) {
    request->has_device = number != NULL;
    request->device = json_integer_value(number);
    return number == NULL || json_is_integer(number) ||
           refuse(failure, text_append(NULL, "'device' must be an integer"));
}

// Refuses a request with unknown members, so that a misspelt one does not go unnoticed.
static bool refuse_others(const struct request *request, struct failure *failure) {
    static const char *const known[] = {"id", "do", "arguments", "device"};
    const char *name;
    json_t *value;
    json_object_foreach(request->whole, name, value) {
        bool is_known = false;
        for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
            is_known = is_known || strcmp(name, known[i]) == 0;
        }
        if (!is_known) {
            return refuse(failure, text_append(NULL, "'%s' takes no '%s'", request->verb, name));
        }
    }
    return true;
}

bool request_read(const char *line, size_t length, struct request *request, struct failure *failure) {
    *request = (struct request){.id = json_null()};
    json_error_t error;
    request->whole = json_loadb(line, length, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);
    if (request->whole == NULL) {
        return refuse(failure, text_append(NULL, "not JSON: something else is expected at byte %d", error.position));
    }
    if (!json_is_object(request->whole)) {
        return refuse(failure, text_append(NULL, "a request must be a JSON object"));
    }
    json_t *id = json_object_get(request->whole, "id");
    if (!json_is_integer(id) && !json_is_string(id)) {
        return refuse(failure, text_append(NULL, "'id' must be an integer or a string"));
    }
    request->id = json_incref(id);
    request->verb = json_string_value(json_object_get(request->whole, "do"));
    if (request->verb == NULL) {
        return refuse(failure, text_append(NULL, "'do' must be a string"));
    }
    return read_arguments(json_object_get(request->whole, "arguments"), request, failure) &&
           read_device(json_object_get(request->whole, "device"), request, failure) && refuse_others(request, failure);
}

void request_free(struct request *request) {
    json_decref(request->id);
    json_decref(request->whole);
}

// Writing.

static char *line_of(json_t *object) {
    char *text = json_dumps(object, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENSURE_ASCII);
    json_decref(object);
    return text_append(text, "\n");
}

char *envelope_hello(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    struct tm parts;
    gmtime_r(&now.tv_sec, &parts);
    char seconds[sizeof "2025-01-31T16:04:05"];
    strftime(seconds, sizeof seconds, "%Y-%m-%dT%H:%M:%S", &parts);
    char *instant = text_append(NULL, "%s.%03ldZ", seconds, now.tv_nsec / 1000000);
    json_t *hello = json_pack("{s:s, s:s, s:i, s:s, s:i}", "event", "hello", "time", instant, "version", interface_version,
                              "family", "pump", "devices", 1);
    free(instant);
    return line_of(hello);
}

char *envelope_response(json_t *id, json_t *state) {
    return line_of(json_pack("{s:O, s:b, s:o*}", "id", id, "ok", 1, "state", state));
}

char *envelope_refusal(json_t *id, struct failure *failure) {
    json_t *error = json_pack("{s:s, s:s, s:s*, s:s}", "code", failure->code, "message", failure->message, "hint",
                              failure->hint, "outcome", "not_sent");
    free(failure->message);
    free(failure->hint);
    return line_of(json_pack("{s:O, s:b, s:o}", "id", id, "ok", 0, "error", error));
}
