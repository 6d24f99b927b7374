#include "CDescriptorIO.h"
#include <sys/auxv.h>

static int argument_count;
static char **argument_values;

// glibc passes the arguments to constructors. Swift's runtime reads them from /proc, which a chroot may lack.
__attribute__((constructor)) static void keep_arguments(int count, char **values) {
    argument_count = count;
    argument_values = values;
}

int cdescriptorio_argument_count(void) { return argument_count; }

char **cdescriptorio_arguments(void) { return argument_values; }

const char *cdescriptorio_started_path(void) { return (const char *)getauxval(AT_EXECFN); }

const char *cdescriptorio_argument(int index) {
    return index >= 0 && index < argument_count ? argument_values[index] : NULL;
}
