// nano-sim: runs the firmware of an Arduino Nano on a simulated ATmega328P, with its UART on a pty. See README.md.

#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sysexits.h>
#include <time.h>
#include <unistd.h>

#include "board.h"
#include "console.h"
#include "control_socket.h"
#include "play.h"
#include "serial_line.h"
#include "stepped.h"
#include "verbs.h"

struct options {
    const char *firmware;
    const char *link;
    const char *control;
    long baud;
    bool free_run;
    bool on_demand;
    bool exit_on_eof;
    bool play;
    bool stepped;
    bool optiboot;
};

static const char usage[] =
    "usage: nano-sim [options] FIRMWARE.elf\n"
    "  --link PATH       make PATH a symbolic link to the pty, and remove it at the end\n"
    "  --control PATH    a Unix socket at which 'pumpctl sim ctl' controls the board\n"
    "  --water C         water temperature, -55 to 150 (default: 12)\n"
    "  --skin C          skin temperature, -55 to 150 (default: 34)\n"
    "  --knob N          reading of the speed knob, 0 to 1023 (default: 716, the start speed)\n"
    "  --baud N          baud rate of the serial line, 300 to 1000000 (default: 9600)\n"
    "  --free            run as fast as possible, not in real time\n"
    "  --on-demand       as --free, and stop the clock while the line is quiet and no command takes time\n"
    "  --optiboot        clear the cause of a reset, as this bootloader does\n"
    "  --exit-on-eof     exit at the end of stdin\n"
    "  --stepped         no pty: run only on commands from stdin (see stepped.h)\n"
    "  --play            no pty: play the streams on stdin, each on a board that has just started (see play.h)\n"
    "Commands on stdin, as those of 'pumpctl sim ctl': press, turn POSITION, temperature PROBE CELSIUS,\n"
    "probe PROBE CONDITION, advance TIME, reset, state, stop. Also: hang, skip SECONDS, wait SECONDS, pwm, leds,\n"
    "time, stats, quit. Each is answered on stdout by one line, ok ... or error ...\n";

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

static bool read_knob(const char *text, uint16_t *reading) {
    static const struct argument knob = {.name = "knob", .kind = argument_number, .least = 0, .most = 1023};
    double number;
    bool is_valid = argument_read(&knob, text, &number) && number == (uint16_t)number;
    *reading = is_valid ? (uint16_t)number : 0;
    return is_valid;
}

// Reads the options, and applies the initial inputs to the board.
static struct options parse_options(int argc, char **argv, struct board *board) {
    static const struct option names[] = {
        {"link", required_argument, NULL, 'l'},  {"control", required_argument, NULL, 'c'},
        {"water", required_argument, NULL, 'w'}, {"skin", required_argument, NULL, 's'},
        {"knob", required_argument, NULL, 'k'},  {"baud", required_argument, NULL, 'b'},
        {"free", no_argument, NULL, 'f'},        {"on-demand", no_argument, NULL, 'd'},
        {"exit-on-eof", no_argument, NULL, 'e'}, {"help", no_argument, NULL, 'h'},
        {"play", no_argument, NULL, 'P'},        {"optiboot", no_argument, NULL, 'o'},
        {"stepped", no_argument, NULL, 'S'},     {NULL, 0, NULL, 0},
    };
    struct options options = {.baud = 9600};
    board->probes[probe_water].celsius = 12;
    board->probes[probe_skin].celsius = 34;
    board->knob = 716;

    int index = 0;
    for (int option; (option = getopt_long(argc, argv, "", names, &index)) != -1;) {
        bool valid = true;
        char *end = NULL;
        switch (option) {
        case 'l':
            options.link = optarg;
            break;
        case 'c':
            options.control = optarg;
            break;
        case 'w':
            valid = argument_read(&celsius_argument, optarg, &board->probes[probe_water].celsius);
            break;
        case 's':
            valid = argument_read(&celsius_argument, optarg, &board->probes[probe_skin].celsius);
            break;
        case 'k':
            valid = read_knob(optarg, &board->knob);
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
        case 'S':
            options.stepped = true;
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

// Sleeps until real time has caught up with the board. `origin` is the real time at which the board's time was 0. If
// the board is more than 0.1 s late, because the machine is slow, `origin` moves, so that the board does not catch up.
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

// The firmware has presumably nothing more to send if no byte was transferred for `answering_time`, which is more than
// two turns of a main loop, and the last reset was `starting_time` ago.
static const uint64_t answering_time = board_frequency / 1000 * 400;
static const uint64_t starting_time = board_frequency / 1000 * 2000;

// Whether the board need not run: presumably all input has its reply, and no verb is in progress.
static bool is_idle(const struct board *board, const struct serial_line *line, const struct hands *hands) {
    return board->cycles >= board->reset_cycles + starting_time && board->cycles >= line->busy_cycles + answering_time &&
           !line_has_input(line) && !hands_are_busy(hands);
}

// Sleeps until there is input from a client, stdin or the control socket, or room for pending output.
static void wait_for_demand(const struct serial_line *line, const struct console *console,
                            const struct control_socket *control) {
    // Limited to 100 ms, because a signal that comes just before the call does not end it.
    static const int longest_sleep = 100;
    struct pollfd sources[3 + control_client_limit] = {
        {.fd = line->master, .events = POLLIN | (line->outgoing_count > 0 ? POLLOUT : 0)},
        console_source(console),
    };
    poll(sources, 2 + control_sources(control, sources + 2), longest_sleep);
}

// Runs the board and handles requests until a signal, a verb, or with --exit-on-eof the end of stdin ends the program.
// Returns the exit status.
static int run(const struct options *options, struct hands *hands, struct control_socket *control) {
    static const uint64_t slice = board_frequency / 1000;
    struct board *board = hands->board;
    struct console console = {.hands = hands};
    double origin = seconds_now();
    while (!stopped) {
        hands_step(hands);
        console_step(&console);
        control_step(control);
        if (hands->stop || (options->exit_on_eof && console_is_done(&console))) {
            break;
        }
        line_exchange(hands->line);
        if (options->on_demand && is_idle(board, hands->line, hands)) {
            wait_for_demand(hands->line, &console, control);
            continue;
        }
        if (!board_run(board, slice)) {
            fprintf(stderr, "nano-sim: the firmware has crashed or stopped for good, at %.3f s\n",
                    (double)board->cycles / board_frequency);
            return EX_SOFTWARE;
        }
        if (hands_hurry(hands)) {
            origin = seconds_now() - (double)board->cycles / board_frequency;
        } else if (!options->free_run) {
            keep_pace(board, &origin);
        }
    }
    return EX_OK;
}

int main(int argc, char **argv) {
    static struct board board;
    static struct serial_line line;
    static struct control_socket control;
    struct hands hands = {.board = &board, .line = &line};

    struct options options = parse_options(argc, argv, &board);
    catch_signals();
    if (!board_load(&board, options.firmware)) {
        return EX_NOINPUT;
    }
    board.clears_cause = options.optiboot;
    if (options.play) {
        board_reset(&board);
        return play(&board);
    }
    if (options.stepped) {
        line_connect(&line, &board, options.baud);
        board_reset(&board);
        return run_stepped(&hands);
    }
    if (!control_open(&control, &hands, options.control)) {
        return EX_CANTCREAT;
    }
    if (!line_open(&line, &board, options.baud, options.link)) {
        control_close(&control);
        return EX_CANTCREAT;
    }
    board_reset(&board);
    printf("PTY %s\n", options.link != NULL ? options.link : line.pty_name);
    fflush(stdout);
    int status = run(&options, &hands, &control);
    control_close(&control);
    line_close(&line);
    return status;
}
