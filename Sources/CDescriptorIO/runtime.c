// What Swift's runtime does at each start, and a program here has no use for. The linker takes these functions instead of those
// of the runtime's archive, as they come first: a start asks the system 16 times fewer. A debug build has the runtime's own.
// Where a later runtime needs more of the objects that these replace, the linker tells of a symbol that is there twice.
#ifdef STATIC_RELEASE
#include "CDescriptorIO.h"

// The runtime looks for its own arguments in all of /proc/self/maps.
char **_swift_stdlib_getUnsafeArgvArgc(int *count) {
    *count = cdescriptorio_argument_count();
    return cdescriptorio_arguments();
}

void _swift_stdlib_overrideUnsafeArgvArgc(char **values, int count) {
    (void)values;
    (void)count;
}

// It looks in seven folders for a program that would describe a crash, which is not installed with a release.
char *swift_copyAuxiliaryExecutablePath(const char *name) {
    (void)name;
    return NULL;
}
#endif
