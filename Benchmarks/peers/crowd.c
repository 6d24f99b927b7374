// Clients that never read: crowd ADDRESS COUNT connects COUNT clients, prints a line, waits for the end of its standard
// input, and prints the number of clients that are still connected.
#define _GNU_SOURCE
#include <poll.h>
#include <stdio.h>

#include "connect.h"

int main(int argc, char **argv) {
    if (argc != 3) return 64;
    int count = atoi(argv[2]), connected = 0;
    struct pollfd *clients = calloc(count, sizeof *clients);
    for (int i = 0; i < count; i++) {
        clients[i] = (struct pollfd){connect_to(argv[1]), POLLRDHUP, 0};
        if (clients[i].fd < 0) return perror("crowd"), 1;
    }
    puts("connected");
    fflush(stdout);
    char byte;
    while (read(0, &byte, 1) > 0) continue;
    poll(clients, count, 0);
    for (int i = 0; i < count; i++) connected += !(clients[i].revents & (POLLRDHUP | POLLHUP | POLLERR));
    printf("%d\n", connected);
    return 0;
}
