#include "CVersion.h"
#include <pthread.h>

#pragma clang diagnostic ignored "-Wc23-extensions"

// The text of the file, whose last byte is a line end. `terminate` replaces that byte with NUL.
static char version[] = {
#embed "../../VERSION"
};

static void terminate(void) { version[sizeof version - 1] = '\0'; }

const char *cversion(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, terminate);
    return version;
}
