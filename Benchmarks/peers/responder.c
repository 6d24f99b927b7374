// Simulated pumps without a firmware, each on its own pseudo-terminal: responder [PUMPS [ANSWERS]] prints their paths,
// one per line. A pump replies to each line with a status at once, so that a benchmark times only the host. With
// ANSWERS, an unsolicited line follows every ANSWERS-th reply, counted over all pumps. On SIGUSR1 each pump sends 50 kB
// of unsolicited lines, and then the program prints a line. Runs until its standard input ends.
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <termios.h>
#include <unistd.h>

static const char reply[] =
    "STATUS:{State:ON,Speed:70%,Runtime:5m,Remaining:25m,WaterTemp:12.0C,SkinTemp:34.5C}\r\n";
static const char unasked[] = "MANUAL:ON\r\n";
static const int filling_lines = 500, filling_length = 100;

static volatile sig_atomic_t is_to_fill;

static void fill(int signal) { is_to_fill = signal; }

static int open_pump(void) {
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    if (master < 0 || grantpt(master) || unlockpt(master)) exit(1);
    // Held open, so that reads of the master do not fail while no client has the terminal open.
    int slave = open(ptsname(master), O_RDWR | O_NOCTTY);
    struct termios settings;
    tcgetattr(slave, &settings);
    cfmakeraw(&settings);
    tcsetattr(slave, TCSANOW, &settings);
    puts(ptsname(master));
    return master;
}

static void say_much(int master) {
    char line[filling_length];
    memset(line, '.', sizeof line);
    memcpy(line + sizeof line - 2, "\r\n", 2);
    for (int i = 0; i < filling_lines; i++)
        if (write(master, line, sizeof line) < 0) exit(1);
}

int main(int argc, char **argv) {
    int pumps = argc > 1 ? atoi(argv[1]) : 1, chatter = argc > 2 ? atoi(argv[2]) : 0, answers = 0;
    struct rlimit files;
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    sigaction(SIGUSR1, &(struct sigaction){.sa_handler = fill}, NULL);
    struct pollfd *wait = calloc(pumps + 1, sizeof *wait);
    for (int i = 0; i < pumps; i++) wait[i] = (struct pollfd){open_pump(), POLLIN, 0};
    wait[pumps] = (struct pollfd){0, POLLIN, 0};
    fflush(stdout);
    char buffer[256];
    for (;;) {
        int ready = poll(wait, pumps + 1, -1);
        if (is_to_fill) {
            is_to_fill = 0;
            for (int i = 0; i < pumps; i++) say_much(wait[i].fd);
            puts("filled");
            fflush(stdout);
        }
        if (ready <= 0) continue;
        if (wait[pumps].revents) return 0;
        for (int pump = 0; pump < pumps; pump++) {
            if (!wait[pump].revents) continue;
            ssize_t count = read(wait[pump].fd, buffer, sizeof buffer);
            for (ssize_t i = 0; i < count; i++) {
                if (buffer[i] != '\n') continue;
                if (write(wait[pump].fd, reply, sizeof reply - 1) < 0) return 1;
                if (chatter && ++answers % chatter == 0 && write(wait[pump].fd, unasked, sizeof unasked - 1) < 0) return 1;
            }
        }
    }
}
