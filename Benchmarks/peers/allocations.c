// Preload this library to count the process's allocations. A benchmark finds allocations() by dlsym, and calls it
// before and after the code that it measures.
#define _GNU_SOURCE
#include <stddef.h>

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static unsigned long count;

unsigned long allocations(void) { return __atomic_load_n(&count, __ATOMIC_RELAXED); }

static void add(void) { __atomic_fetch_add(&count, 1, __ATOMIC_RELAXED); }

void *malloc(size_t size) { return add(), __libc_malloc(size); }
void *calloc(size_t items, size_t size) { return add(), __libc_calloc(items, size); }
void *realloc(void *old, size_t size) { return add(), __libc_realloc(old, size); }
void *aligned_alloc(size_t alignment, size_t size) { return add(), __libc_memalign(alignment, size); }
void *memalign(size_t alignment, size_t size) { return add(), __libc_memalign(alignment, size); }
int posix_memalign(void **result, size_t alignment, size_t size) {
    add();
    *result = __libc_memalign(alignment, size);
    return *result ? 0 : 12;
}
