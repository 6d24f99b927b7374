// Connects a client to a server that may still be starting: retries for 5 s while nothing listens at the address, or
// while the server's queue of connections is full.
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

// Connects to "unix:PATH", or to a TCP port of 127.0.0.1. Returns the socket; on failure, -1 with errno.
static int connect_to(const char *address) {
    struct sockaddr_un local = {.sun_family = AF_UNIX};
    struct sockaddr_in internet = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int is_local = strncmp(address, "unix:", 5) == 0;
    if (is_local) strncpy(local.sun_path, address + 5, sizeof local.sun_path - 1);
    internet.sin_port = htons(atoi(address));
    for (int tries = 0; tries < 500; tries++) {
        int end = socket(is_local ? AF_UNIX : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (end < 0) return -1;
        if (is_local ? !connect(end, (struct sockaddr *)&local, sizeof local)
                     : !connect(end, (struct sockaddr *)&internet, sizeof internet))
            return end;
        close(end);
        if (errno != ENOENT && errno != ECONNREFUSED && errno != EAGAIN) return -1;
        usleep(10000);
    }
    return -1;
}
