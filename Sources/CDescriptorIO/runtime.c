// Replacements for parts of Swift's runtime that are unnecessary here and run at each start. The linker takes these
// functions, which come first, instead of those in the runtime's archive; a start then makes 16 fewer system calls. A
// debug build has the original functions. If a later runtime needs more of the replaced objects, the linker reports a
// duplicate symbol.
#ifdef STATIC_RELEASE
#include "CDescriptorIO.h"

// The runtime searches all of /proc/self/maps for the arguments.
char **_swift_stdlib_getUnsafeArgvArgc(int *count) {
    *count = cdescriptorio_argument_count();
    return cdescriptorio_arguments();
}

void _swift_stdlib_overrideUnsafeArgvArgc(char **values, int count) {
    (void)values;
    (void)count;
}

// The runtime searches seven folders for a program that describes crashes, which is not installed with a release.
char *swift_copyAuxiliaryExecutablePath(const char *name) {
    (void)name;
    return NULL;
}
#endif
