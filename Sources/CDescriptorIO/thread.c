#define _GNU_SOURCE
#include "CDescriptorIO.h"

#include <pthread.h>
#include <signal.h>

int cdescriptorio_start_thread(
    unsigned long *thread, const void *blocked, void *(*body)(void *), void *argument) {
    pthread_attr_t attributes;
    int error = pthread_attr_init(&attributes);
    if (error) return error;
    error = pthread_attr_setsigmask_np(&attributes, blocked);
    if (!error) error = pthread_create(thread, &attributes, body, argument);
    pthread_attr_destroy(&attributes);
    return error;
}
