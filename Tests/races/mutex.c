/* Makes the thread sanitizer aware of Swift's Mutex, whose library was not built with the sanitizer. If two threads
 * want the lock at once, a futex hands it over. The sanitizer does not see this, and takes accesses under the lock for
 * races.
 *
 * Preload this library. Its functions replace those of Synchronization._MutexHandle that Swift 6 calls for a
 * contended lock. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *self

#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"
#define TRY_LOCK "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"

/* Programs without the sanitizer lack both functions. */
extern void __tsan_acquire(void *address) __attribute__((weak));
extern void __tsan_release(void *address) __attribute__((weak));

SWIFT void lock_slow(uint32_t thread, SELF) __asm__(LOCK);
SWIFT void unlock_slow(SELF) __asm__(UNLOCK);
SWIFT bool try_lock_slow(SELF) __asm__(TRY_LOCK);

static SWIFT void (*real_lock)(uint32_t, SELF);
static SWIFT void (*real_unlock)(SELF);
static SWIFT bool (*real_try_lock)(SELF);

__attribute__((constructor)) static void find_real(void) {
    *(void **)&real_lock = dlsym(RTLD_NEXT, LOCK);
    *(void **)&real_unlock = dlsym(RTLD_NEXT, UNLOCK);
    *(void **)&real_try_lock = dlsym(RTLD_NEXT, TRY_LOCK);
}

SWIFT void lock_slow(uint32_t thread, SELF) {
    real_lock(thread, self);
    if (__tsan_acquire) __tsan_acquire(self);
}

SWIFT void unlock_slow(SELF) {
    if (__tsan_release) __tsan_release(self);
    real_unlock(self);
}

SWIFT bool try_lock_slow(SELF) {
    bool is_locked = real_try_lock(self);
    if (is_locked && __tsan_acquire) __tsan_acquire(self);
    return is_locked;
}
