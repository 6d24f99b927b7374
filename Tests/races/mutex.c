/* Tells the thread sanitizer of Swift's Mutex, whose library was not built with it: where two threads want the lock at
 * once, it is handed over by a futex, which the sanitizer does not see, and what the lock guards looks unguarded.
 *
 * To be preloaded. The functions are those of Synchronization._MutexHandle that Swift 6 calls where a lock is not free. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *self

#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"
#define TRY_LOCK "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"

/* Programs without the sanitizer have neither. */
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
