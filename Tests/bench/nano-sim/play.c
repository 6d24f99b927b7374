#include "play.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <unistd.h>

#include "avr_adc.h"
#include "avr_uart.h"
#include "sim_io.h"
#include "sim_time.h"
#include "verbs.h"

enum { event_limit = 512, byte_limit = 4096, text_limit = 9000, record_limit = 16384 };

// The time that the firmware runs before the streams, in which it starts and sends its banner.
static const uint64_t starting_time = board_frequency / 1000 * 1500;
static const uint64_t cycles_per_microsecond = board_frequency / 1000000;
static const double cycles_per_byte = board_frequency * 10.0 / 9600;

// A change of an input, or the end of the stream.
struct event {
    uint64_t cycle;
    enum { event_input, event_button, event_end } kind;
    // The verb that changes an input of the board, and its values.
    const struct verb *verb;
    double values[verb_argument_limit];
    bool is_down;
};

// A byte, a turn of the main loop, or a state of the motor, and its time. `value` is the byte; 0; or the level of the
// motor's enable pin times 256, plus the duty.
struct record {
    uint64_t cycle;
    uint16_t value;
};

struct records {
    struct record items[record_limit];
    size_t count;
};

struct player {
    struct board *board;
    // The time at which each stream begins.
    uint64_t begin;

    struct event events[event_limit];
    size_t event_count, events_done;

    // The bytes for the firmware, each with the beginning of its first bit.
    struct record incoming[byte_limit];
    size_t incoming_count, delivered;
    double line_free_at;

    struct records bytes, turns, motor;
    // The number of bytes that the firmware's receive ring had accepted at the last count, and the ring's head then.
    size_t kept;
    int ring_head;
};

static struct player player;

static void add(struct records *records, uint64_t cycle, uint16_t value) {
    if (records->count < record_limit) {
        records->items[records->count++] = (struct record){cycle, value};
    }
}

static void byte_leaves(struct avr_irq_t *irq, uint32_t value, void *context) {
    (void)irq;
    (void)context;
    // simavr reports a byte when the firmware writes it to the data register. The byte begins to leave when the
    // previous one has left.
    uint64_t begin = player.board->avr->cycle;
    const struct records *bytes = &player.bytes;
    if (bytes->count > 0 && bytes->items[bytes->count - 1].cycle > begin) {
        begin = bytes->items[bytes->count - 1].cycle;
    }
    add(&player.bytes, begin + (uint64_t)cycles_per_byte, value);
}

static void conversion_begins(struct avr_irq_t *irq, uint32_t value, void *context) {
    (void)irq;
    (void)context;
    // simavr packs the channel into the value in this way.
    union {
        avr_adc_mux_t mux;
        uint32_t value;
    } trigger = {.value = value};
    // The firmware measures the water first in each turn of its main loop.
    if (trigger.mux.kind == ADC_MUX_SINGLE && trigger.mux.src == probe_water) {
        add(&player.turns, player.board->avr->cycle, 0);
    }
}

// Adds the bytes that the receive ring has accepted since the last count: its head moves by one for each.
static void count_kept_bytes(void) {
    int head = board_receive_head(player.board);
    player.kept += (size_t)((head - player.ring_head) & (receive_ring_size - 1));
    player.ring_head = head;
}

static avr_cycle_count_t deliver(avr_t *avr, avr_cycle_count_t when, void *context) {
    (void)when;
    (void)context;
    count_kept_bytes();
    uint8_t byte = (uint8_t)player.incoming[player.delivered++].value;
    avr_raise_irq(avr_io_getirq(avr, AVR_IOCTL_UART_GETIRQ('0'), UART_IRQ_INPUT), byte);
    return player.delivered < player.incoming_count ? player.incoming[player.delivered].cycle : 0;
}

static void watch_motor(void) {
    uint16_t value = (uint16_t)(board_pump_enabled(player.board) << 8 | board_pump_duty(player.board));
    struct records *motor = &player.motor;
    if (motor->count == 0 || motor->items[motor->count - 1].value != value) {
        add(motor, player.board->avr->cycle, value);
    }
}

static bool take_bytes(uint64_t cycle, const char *text) {
    if (player.line_free_at < cycle) {
        player.line_free_at = cycle;
    }
    for (; text[0] != '\0' && text[1] != '\0'; text += 2) {
        unsigned byte;
        if (sscanf(text, "%2x", &byte) != 1 || player.incoming_count == byte_limit) {
            return false;
        }
        // simavr must be given a byte when its first bit begins, and makes the firmware see it at its end.
        player.incoming[player.incoming_count++] = (struct record){(uint64_t)player.line_free_at, (uint16_t)byte};
        player.line_free_at += cycles_per_byte;
    }
    return true;
}

static bool read_input(struct event *event, const char *what, char *words) {
    event->kind = event_input;
    event->verb = verb_named(what);
    const char *arguments[verb_argument_limit];
    size_t count = 0;
    for (char *word; count < verb_argument_limit && (word = strsep(&words, " ")) != NULL; count++) {
        arguments[count] = word;
    }
    char *refusal = NULL;
    bool is_valid = event->verb != NULL && event->verb->is_input && words == NULL &&
                    verb_read(event->verb, arguments, count, event->values, &refusal);
    free(refusal);
    return is_valid;
}

static bool take_event(uint64_t cycle, const char *what, char *argument) {
    struct event event = {.cycle = cycle};
    if (strcmp(what, "send") == 0) {
        return take_bytes(cycle, argument);
    } else if (strcmp(what, "button") == 0) {
        event.kind = event_button;
        event.is_down = strcmp(argument, "1") == 0;
    } else if (strcmp(what, "end") == 0) {
        event.kind = event_end;
    } else if (!read_input(&event, what, argument)) {
        return false;
    }
    if (player.event_count == event_limit) {
        return false;
    }
    player.events[player.event_count++] = event;
    return true;
}

// Reads a stream: 1, 0 at the end of stdin, -1 if it is not valid.
static int read_stream(void) {
    static char line[text_limit];
    player.event_count = player.incoming_count = 0;
    while (fgets(line, sizeof line, stdin) != NULL) {
        unsigned long long microseconds;
        char what[16];
        int used = 0;
        if (sscanf(line, "%llu %15s %n", &microseconds, what, &used) < 2 || used == 0) {
            fprintf(stderr, "nano-sim: not a line of a stream: %s", line);
            return -1;
        }
        line[strcspn(line, "\n")] = '\0';
        if (!take_event(player.begin + microseconds * cycles_per_microsecond, what, line + used)) {
            fprintf(stderr, "nano-sim: not a line of a stream: %s\n", line);
            return -1;
        }
        if (strcmp(what, "end") == 0) {
            return 1;
        }
    }
    return 0;
}

// Carries out an event. False if it is the end of the stream.
static bool happen(const struct event *event) {
    struct hands hands = {.board = player.board};
    char *text = NULL;
    switch (event->kind) {
    case event_input:
        event->verb->perform(&hands, event->values, &text);
        return true;
    case event_button:
        board_set_button(player.board, event->is_down);
        return true;
    case event_end:
        break;
    }
    return false;
}

static double microseconds(uint64_t cycle) {
    return (double)cycle / cycles_per_microsecond;
}

static void print_records(void) {
    printf("bytes");
    for (size_t i = 0; i < player.bytes.count; i++) {
        const struct record *record = &player.bytes.items[i];
        printf(" %.0f:%02x", microseconds(record->cycle), record->value);
    }
    printf("\nturns");
    for (size_t i = 0; i < player.turns.count; i++) {
        printf(" %.0f", microseconds(player.turns.items[i].cycle));
    }
    printf("\nmotor");
    for (size_t i = 0; i < player.motor.count; i++) {
        const struct record *record = &player.motor.items[i];
        printf(" %.0f:%d:%d", microseconds(record->cycle), record->value >> 8, record->value & 0xff);
    }
    count_kept_bytes();
    printf("\nlost %zu\n", player.delivered - player.kept);
    fflush(stdout);
}

static int play_stream(void) {
    static const uint64_t slice = board_frequency / 1000;
    avr_t *avr = player.board->avr;
    if (player.incoming_count > 0) {
        avr_cycle_timer_register(avr, player.incoming[0].cycle - avr->cycle, deliver, NULL);
    }
    for (size_t i = 0; i < player.event_count; i++) {
        while (avr->cycle < player.events[i].cycle) {
            uint64_t rest = player.events[i].cycle - avr->cycle;
            if (!board_run(player.board, rest < slice ? rest : slice)) {
                fprintf(stderr, "nano-sim: the firmware has crashed or stopped for good\n");
                return EX_SOFTWARE;
            }
            watch_motor();
        }
        if (!happen(&player.events[i])) {
            break;
        }
    }
    print_records();
    return EX_OK;
}

int play(struct board *board) {
    player.board = board;
    avr_t *avr = board->avr;
    avr_irq_register_notify(avr_io_getirq(avr, AVR_IOCTL_UART_GETIRQ('0'), UART_IRQ_OUTPUT), byte_leaves, NULL);
    avr_irq_register_notify(avr_io_getirq(avr, AVR_IOCTL_ADC_GETIRQ, ADC_IRQ_OUT_TRIGGER), conversion_begins, NULL);
    if (!board_run(board, starting_time)) {
        return EX_SOFTWARE;
    }
    player.bytes.count = player.turns.count = 0;
    player.begin = avr->cycle;
    printf("begins %.0f\n", microseconds(player.begin));
    fflush(stdout);
    watch_motor();
    player.ring_head = board_receive_head(board);
    int read;
    while ((read = read_stream()) > 0) {
        player.line_free_at = 0;
        pid_t child = fork();
        if (child == 0) {
            _exit(play_stream());
        }
        int status = 0;
        if (child < 0 || waitpid(child, &status, 0) < 0 || status != 0) {
            fprintf(stderr, "nano-sim: a stream was not played to its end\n");
            return EX_SOFTWARE;
        }
    }
    return read < 0 ? EX_DATAERR : EX_OK;
}
