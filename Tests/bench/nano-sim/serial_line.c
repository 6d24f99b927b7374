#include "serial_line.h"

#include <errno.h>
#include <fcntl.h>
#include <pty.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include "avr_uart.h"
#include "sim_io.h"
#include "sim_time.h"

enum { bits_per_byte = 10 };

// Queues a byte that the firmware has sent. simavr calls this for each byte that leaves the UART.
static void take_from_uart(struct avr_irq_t *irq, uint32_t value, void *context) {
    (void)irq;
    struct serial_line *line = context;
    line->sent++;
    line->busy_cycles = line->board->cycles;
    if (line->outgoing_count == line_outgoing_size) {
        if (line->dropped++ == 0) {
            fprintf(stderr, "nano-sim: no client reads the pty and %d bytes are queued; dropping more\n", line_outgoing_size);
        }
        return;
    }
    line->outgoing[(line->outgoing_begin + line->outgoing_count++) % line_outgoing_size] = value;
}

// simavr calls this when the UART's input buffer is full.
static void pause_input(struct avr_irq_t *irq, uint32_t value, void *context) {
    (void)irq;
    if (value) {
        ((struct serial_line *)context)->paused = true;
    }
}

// simavr calls this when the UART's input buffer has room again.
static void resume_input(struct avr_irq_t *irq, uint32_t value, void *context) {
    (void)irq;
    if (value) {
        ((struct serial_line *)context)->paused = false;
    }
}

// Passes the next byte to the UART. A timer of simavr calls this, and calls it again at the returned cycle unless that
// is 0.
static avr_cycle_count_t deliver_byte(avr_t *avr, avr_cycle_count_t when, void *context) {
    struct serial_line *line = context;
    if (line->paused) {
        return when + line->cycles_per_byte;
    }
    if (line->incoming_begin == line->incoming_end) {
        line->delivering = false;
        return 0;
    }
    uint8_t byte = line->incoming[line->incoming_begin++];
    line->received++;
    line->busy_cycles = line->board->cycles;
    avr_raise_irq(avr_io_getirq(avr, AVR_IOCTL_UART_GETIRQ('0'), UART_IRQ_INPUT), byte);
    return when + line->cycles_per_byte;
}

// Creates the link. An existing link is replaced in one step: a client that opens it always gets the old or the new
// pty. Anything else at this path is a user's file, and stays.
static bool make_link(const char *link, const char *target) {
    struct stat status;
    if (lstat(link, &status) == 0 && !S_ISLNK(status.st_mode)) {
        fprintf(stderr, "nano-sim: %s exists and is not a symbolic link\n", link);
        return false;
    }
    char temporary[PATH_MAX];
    int length = snprintf(temporary, sizeof temporary, "%s.%ld", link, (long)getpid());
    if (length < 0 || (size_t)length >= sizeof temporary) {
        fprintf(stderr, "nano-sim: the path of the link is too long\n");
        return false;
    }
    if (symlink(target, temporary) != 0) {
        fprintf(stderr, "nano-sim: cannot make the link %s: %s\n", link, strerror(errno));
        return false;
    }
    if (rename(temporary, link) != 0) {
        fprintf(stderr, "nano-sim: cannot make the link %s: %s\n", link, strerror(errno));
        unlink(temporary);
        return false;
    }
    return true;
}

void line_connect(struct serial_line *line, struct board *board, long baud) {
    line->board = board;
    line->master = line->slave = -1;
    line->cycles_per_byte = (uint64_t)board_frequency * bits_per_byte / baud;
    avr_t *avr = board->avr;
    avr_irq_register_notify(avr_io_getirq(avr, AVR_IOCTL_UART_GETIRQ('0'), UART_IRQ_OUTPUT), take_from_uart, line);
    avr_irq_register_notify(avr_io_getirq(avr, AVR_IOCTL_UART_GETIRQ('0'), UART_IRQ_OUT_XOFF), pause_input, line);
    avr_irq_register_notify(avr_io_getirq(avr, AVR_IOCTL_UART_GETIRQ('0'), UART_IRQ_OUT_XON), resume_input, line);
}

bool line_open(struct serial_line *line, struct board *board, long baud, const char *link) {
    line_connect(line, board, baud);
    if (openpty(&line->master, &line->slave, line->pty_name, NULL, NULL) != 0) {
        fprintf(stderr, "nano-sim: cannot open a pty: %s\n", strerror(errno));
        return false;
    }
    struct termios settings;
    tcgetattr(line->slave, &settings);
    cfmakeraw(&settings);
    cfsetspeed(&settings, B9600);
    tcsetattr(line->slave, TCSANOW, &settings);
    fcntl(line->master, F_SETFL, O_NONBLOCK);

    if (link != NULL) {
        if (!make_link(link, line->pty_name)) {
            return false;
        }
        line->link = link;
    }
    return true;
}

// Starts the timer that passes the incoming bytes to the UART, unless it runs.
static void deliver(struct serial_line *line) {
    if (!line->delivering) {
        line->delivering = true;
        avr_cycle_timer_register(line->board->avr, 1, deliver_byte, line);
    }
}

bool line_give(struct serial_line *line, const uint8_t *bytes, size_t count) {
    size_t waiting = line->incoming_end - line->incoming_begin;
    if (count > line_incoming_size - waiting) {
        return false;
    }
    memmove(line->incoming, line->incoming + line->incoming_begin, waiting);
    memcpy(line->incoming + waiting, bytes, count);
    line->incoming_begin = 0;
    line->incoming_end = waiting + count;
    deliver(line);
    return true;
}

size_t line_take(struct serial_line *line, uint8_t *bytes, size_t limit) {
    size_t count = 0;
    while (count < limit && line->outgoing_count > 0) {
        bytes[count++] = line->outgoing[line->outgoing_begin];
        line->outgoing_begin = (line->outgoing_begin + 1) % line_outgoing_size;
        line->outgoing_count--;
    }
    return count;
}

static void read_pty(struct serial_line *line) {
    if (line->incoming_begin != line->incoming_end) {
        // Further input stays in the pty, which exerts back-pressure on the client.
        return;
    }
    ssize_t count = read(line->master, line->incoming, line_incoming_size);
    if (count <= 0) {
        return;
    }
    line->incoming_begin = 0;
    line->incoming_end = (size_t)count;
    deliver(line);
}

static void write_pty(struct serial_line *line) {
    while (line->outgoing_count > 0) {
        size_t run = line_outgoing_size - line->outgoing_begin;
        if (run > line->outgoing_count) {
            run = line->outgoing_count;
        }
        ssize_t count = write(line->master, line->outgoing + line->outgoing_begin, run);
        if (count <= 0) {
            return;
        }
        line->outgoing_begin = (line->outgoing_begin + (size_t)count) % line_outgoing_size;
        line->outgoing_count -= (size_t)count;
    }
}

void line_exchange(struct serial_line *line) {
    read_pty(line);
    write_pty(line);
}

bool line_has_input(const struct serial_line *line) {
    return line->incoming_begin != line->incoming_end;
}

void line_reset(struct serial_line *line) {
    while (line->master >= 0 && read(line->master, line->incoming, line_incoming_size) > 0) {
    }
    line->incoming_begin = line->incoming_end = 0;
    line->delivering = false;
    line->paused = false;
}

void line_close(struct serial_line *line) {
    write_pty(line);
    if (line->link != NULL) {
        char target[line_pty_name_size];
        ssize_t length = readlink(line->link, target, sizeof target - 1);
        if (length > 0 && (size_t)length == strlen(line->pty_name) && memcmp(target, line->pty_name, (size_t)length) == 0) {
            unlink(line->link);
        }
    }
    if (line->master >= 0) {
        close(line->master);
        close(line->slave);
    }
    if (line->dropped > 0) {
        fprintf(stderr, "nano-sim: %llu bytes dropped: no client read them\n", (unsigned long long)line->dropped);
    }
}
