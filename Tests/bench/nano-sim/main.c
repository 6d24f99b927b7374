// nano-sim: runs the firmware of an Arduino Nano on a simulated ATmega328P, its UART on a pty. See README.md.

#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sysexits.h>
#include <time.h>
#include <unistd.h>

#include "board.h"
#include "control.h"
#include "play.h"
#include "serial_line.h"

struct options {
    const char *firmware;
    const char *link;
    long baud;
    bool free_run;
    bool on_demand;
    bool exit_on_eof;
    bool play;
    bool optiboot;
};

static const char usage[] =
    "usage: nano-sim [options] FIRMWARE.elf\n"
    "  --link PATH       make PATH a symbolic link to the pty, and remove it at the end\n"
    "  --water C         water temperature, -55 to 150, open or short (12)\n"
    "  --skin C          skin temperature, likewise (34)\n"
    "  --pot N           reading of the potentiometer, 0 to 1023 (716: the start speed)\n"
    "  --baud N          speed of the serial line, 300 to 1000000 (9600)\n"
    "  --free            run as fast as it goes, not in real time\n"
    "  --on-demand       likewise, and time stands still while the line is quiet and no command takes time\n"
    "  --optiboot        clear what tells why a reset came, as this bootloader does\n"
    "  --exit-on-eof     end when stdin does\n"
    "  --play            no pty: play the streams on stdin, each to a board that has just started (see play.h)\n"
    "Commands on stdin: water C, skin C, pot N, button press, reset, hang, skip SECONDS, wait SECONDS,\n"
    "pwm, leds, time, stats, quit. Each is answered on stdout by one line, ok ... or error ...\n";

static volatile sig_atomic_t stopped;

static void stop(int signal) {
    (void)signal;
    stopped = 1;
}

static void catch_signals(void) {
    struct sigaction action = {.sa_handler = stop};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
    signal(SIGPIPE, SIG_IGN);
}

static void exit_with_usage(const char *option, const char *value) {
    fprintf(stderr, "nano-sim: --%s cannot be %s\n%s", option, value, usage);
    exit(EX_USAGE);
}

// Reads the options, and into `readings` what the board's analogue inputs start at.
static struct options parse_options(int argc, char **argv, uint16_t readings[3]) {
    static const struct option names[] = {
        {"link", required_argument, NULL, 'l'},  {"water", required_argument, NULL, 'w'}, {"skin", required_argument, NULL, 's'},
        {"pot", required_argument, NULL, 'p'},   {"baud", required_argument, NULL, 'b'},  {"free", no_argument, NULL, 'f'},
        {"on-demand", no_argument, NULL, 'd'},   {"exit-on-eof", no_argument, NULL, 'e'}, {"help", no_argument, NULL, 'h'},
        {"play", no_argument, NULL, 'P'},        {"optiboot", no_argument, NULL, 'o'},
        {NULL, 0, NULL, 0},
    };
    struct options options = {.baud = 9600};
    readings[input_water] = board_thermistor_reading(12);
    readings[input_skin] = board_thermistor_reading(34);
    readings[input_potentiometer] = 716;

    int index = 0;
    for (int option; (option = getopt_long(argc, argv, "", names, &index)) != -1;) {
        bool valid = true;
        char *end = NULL;
        switch (option) {
        case 'l':
            options.link = optarg;
            break;
        case 'w':
            valid = control_parse_thermistor(optarg, &readings[input_water]);
            break;
        case 's':
            valid = control_parse_thermistor(optarg, &readings[input_skin]);
            break;
        case 'p':
            valid = control_parse_reading(optarg, &readings[input_potentiometer]);
            break;
        case 'b':
            options.baud = strtol(optarg, &end, 10);
            valid = *end == '\0' && options.baud >= 300 && options.baud <= 1000000;
            break;
        case 'f':
            options.free_run = true;
            break;
        case 'd':
            options.free_run = options.on_demand = true;
            break;
        case 'e':
            options.exit_on_eof = true;
            break;
        case 'P':
            options.play = true;
            break;
        case 'o':
            options.optiboot = true;
            break;
        case 'h':
            fputs(usage, stdout);
            exit(EX_OK);
        default:
            fputs(usage, stderr);
            exit(EX_USAGE);
        }
        if (!valid) {
            exit_with_usage(names[index].name, optarg);
        }
    }
    if (optind != argc - 1) {
        fputs(usage, stderr);
        exit(EX_USAGE);
    }
    options.firmware = argv[optind];
    return options;
}

static double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec + now.tv_nsec * 1e-9;
}

// Sleeps until real time has caught up. `origin` is the real time at which simulated time was 0; it moves when the machine
// was too slow, rather than let the firmware hurry afterwards.
static void keep_pace(const struct board *board, double *origin) {
    static const double tolerated_lag = 0.1;
    double ahead = *origin + (double)board->cycles / board_frequency - seconds_now();
    if (ahead > 0) {
        struct timespec pause = {.tv_sec = (time_t)ahead, .tv_nsec = (long)((ahead - (time_t)ahead) * 1e9)};
        nanosleep(&pause, NULL);
    } else if (ahead < -tolerated_lag) {
        *origin -= ahead;
    }
}

// How long the firmware may take over a byte that came before it is taken to have no more to say: more than two turns of a
// main loop, and the start of the firmware besides when it was reset.
static const uint64_t answering_time = board_frequency / 1000 * 400;
static const uint64_t starting_time = board_frequency / 1000 * 2000;

// Whether there is nothing to run for: all that came was answered, and no command on stdin takes time.
static bool is_idle(const struct board *board, const struct serial_line *line, const struct control *control) {
    return board->cycles >= board->reset_cycles + starting_time && board->cycles >= line->busy_cycles + answering_time &&
           !line_has_input(line) && control->waiting == waiting_for_nothing;
}

// Sleeps until a client or stdin has something to say, or there is room for what a client has yet to read.
static void wait_for_demand(const struct serial_line *line, const struct control *control) {
    // Not for ever: a signal may have come just before.
    static const int longest_sleep = 100;
    struct pollfd sources[] = {
        {.fd = line->master, .events = POLLIN | (line->outgoing_count > 0 ? POLLOUT : 0)},
        {.fd = control->ended ? -1 : STDIN_FILENO, .events = POLLIN},
    };
    poll(sources, 2, longest_sleep);
}

int main(int argc, char **argv) {
    static struct board board;
    static struct serial_line line;
    static const uint64_t slice = board_frequency / 1000;

    struct options options = parse_options(argc, argv, board.readings);
    catch_signals();
    if (!board_load(&board, options.firmware)) {
        return EX_NOINPUT;
    }
    board.clears_cause = options.optiboot;
    if (options.play) {
        board_reset(&board);
        return play(&board);
    }
    if (!line_open(&line, &board, options.baud, options.link)) {
        return EX_CANTCREAT;
    }
    board_reset(&board);
    printf("PTY %s\n", options.link != NULL ? options.link : line.pty_name);
    fflush(stdout);

    struct control control = {.board = &board, .line = &line};
    int status = EX_OK;
    double origin = seconds_now();
    while (!stopped) {
        control_step(&control);
        if (control.quit || (control.ended && options.exit_on_eof && control.waiting == waiting_for_nothing)) {
            break;
        }
        line_exchange(&line);
        if (options.on_demand && is_idle(&board, &line, &control)) {
            wait_for_demand(&line, &control);
            continue;
        }
        if (!board_run(&board, slice)) {
            fprintf(stderr, "nano-sim: the firmware has crashed or stopped for good, at %.3f s\n",
                    (double)board.cycles / board_frequency);
            status = EX_SOFTWARE;
            break;
        }
        if (!options.free_run) {
            keep_pace(&board, &origin);
        }
    }
    line_close(&line);
    return status;
}
