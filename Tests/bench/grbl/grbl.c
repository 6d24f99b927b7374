// A stand-in for Grbl 1.1 on an ATmega328P at 16 MHz, based on the pages "Grbl v1.1 Interface" and
// "Grbl v1.1 Commands" of Grbl's wiki: 115200 baud, one reply per line, real-time characters that are taken out of the
// stream immediately, and a buffer of 15 moves. There are no motors: a move only takes time, its distance
// (the sum over the axes) divided by its feed; a rapid move takes 10 ms.

#include <avr/interrupt.h>
#include <avr/io.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RING_LENGTH 128
#define LINE_LENGTH 80
#define MOVE_COUNT 15
#define RAPID_MS 10

static const char banner[] = "\r\nGrbl 1.1h ['$' for help]\r\n";

// Bytes from the host that the main loop has not read. Bytes that do not fit are lost, as in Grbl.
static volatile uint8_t ring[RING_LENGTH];
static volatile uint8_t ring_head, ring_tail;
static volatile bool status_is_wanted, reset_is_wanted;

// The remaining durations of the moves in milliseconds: the current move, then the waiting ones.
static volatile uint16_t moves[MOVE_COUNT];
static volatile uint8_t move_count;
// Whether the host has stopped the moves for now, by '!'.
static volatile bool is_held;

// X, Y and Z after the last accepted move, in mm, and the feed in mm/min.
static double position[3];
static double feed;

ISR(USART_RX_vect) {
    uint8_t byte = UDR0;
    switch (byte) {
    case '?': status_is_wanted = true; return;
    case '!': is_held = true; return;
    case '~': is_held = false; return;
    case 0x18: reset_is_wanted = true; return;
    }
    uint8_t next = (ring_head + 1) % RING_LENGTH;
    if (next != ring_tail) {
        ring[ring_head] = byte;
        ring_head = next;
    }
}

// Runs every millisecond: lets the time of the current move pass.
ISR(TIMER1_COMPA_vect) {
    if (move_count == 0 || is_held || --moves[0] > 0) {
        return;
    }
    --move_count;
    for (uint8_t i = 0; i < move_count; i++) {
        moves[i] = moves[i + 1];
    }
}

static void put(const char *text) {
    for (; *text; text++) {
        while (!(UCSR0A & _BV(UDRE0))) {
        }
        UDR0 = *text;
    }
}

static void put_number(double number) {
    char text[16];
    put(dtostrf(number, 1, 3, text));
}

static void put_status(void) {
    put(is_held ? "<Hold:0|MPos:" : move_count > 0 ? "<Run|MPos:" : "<Idle|MPos:");
    for (uint8_t i = 0; i < 3; i++) {
        put_number(position[i]);
        put(i < 2 ? "," : "|FS:0,0>\r\n");
    }
}

static void put_error(uint8_t number) {
    char text[16];
    snprintf(text, sizeof text, "error:%u\r\n", number);
    put(text);
}

// Sends a status if the host has asked for one. A request may come at any time, also while a line is executed.
static void attend(void) {
    if (status_is_wanted) {
        status_is_wanted = false;
        put_status();
    }
}

static void move_to(const double target[3], bool is_rapid) {
    double distance = 0;
    for (uint8_t i = 0; i < 3; i++) {
        double step = target[i] - position[i];
        distance += step < 0 ? -step : step;
        position[i] = target[i];
    }
    double time = is_rapid ? RAPID_MS : distance / feed * 60000;
    // The reply to the line waits until there is room for the move.
    while (move_count == MOVE_COUNT && !reset_is_wanted) {
        attend();
    }
    cli();
    if (!reset_is_wanted) {
        moves[move_count++] = time < 1 ? 1 : time > 60000 ? 60000 : (uint16_t)time;
    }
    sei();
}

// Executes a line of G-code in upper case without blanks; returns the number of the error, 0 for none.
static uint8_t run_block(const char *text) {
    double target[3] = {position[0], position[1], position[2]};
    bool moves_axes = false;
    static int motion;
    while (*text) {
        char letter = *text++;
        if (letter < 'A' || letter > 'Z') {
            return 1;
        }
        char *end;
        double value = strtod(text, &end);
        if (end == text) {
            return 2;
        }
        text = end;
        switch (letter) {
        case 'G':
            if (value == 0 || value == 1) {
                motion = (int)value;
            } else if (value != 17 && value != 20 && value != 21 && value != 90 && value != 94) {
                return 20;
            }
            break;
        case 'M':
            if (value != 0 && value != 2 && value != 3 && value != 5 && value != 30) {
                return 20;
            }
            break;
        case 'X': case 'Y': case 'Z':
            target[letter - 'X'] = value;
            moves_axes = true;
            break;
        case 'F': feed = value; break;
        case 'S': case 'N': case 'T': break;
        default: return 20;
        }
    }
    if (moves_axes && motion == 1 && feed <= 0) {
        return 22;
    }
    if (moves_axes) {
        move_to(target, motion == 0);
    }
    return 0;
}

// Executes a line that begins with `$`; returns the number of the error, 0 for none.
static uint8_t run_system(const char *text) {
    if (strcmp(text, "$I") == 0) {
        put("[VER:1.1h.20190825:]\r\n[OPT:V,15,128]\r\n");
        return 0;
    }
    if (strcmp(text, "$") == 0) {
        put("[HLP:$$ $# $G $I $N $x=val $Nx=line $J=line $SLP $C $X $H ~ ! ? ctrl-x]\r\n");
        return 0;
    }
    if (strcmp(text, "$G") == 0) {
        put("[GC:G0 G54 G17 G21 G90 G94 M5 M9 T0 F0 S0]\r\n");
        return 0;
    }
    if (strcmp(text, "$X") == 0) {
        return 0;
    }
    return strcmp(text, "$H") == 0 ? 5 : 3;
}

static void reset(void) {
    cli();
    ring_head = ring_tail = move_count = 0;
    is_held = reset_is_wanted = status_is_wanted = false;
    sei();
    put(banner);
}

int main(void) {
    UBRR0 = 16;
    UCSR0A = _BV(U2X0);
    UCSR0C = _BV(UCSZ01) | _BV(UCSZ00);
    UCSR0B = _BV(RXEN0) | _BV(TXEN0) | _BV(RXCIE0);
    TCCR1B = _BV(WGM12) | _BV(CS11) | _BV(CS10);
    OCR1A = 249;
    TIMSK1 = _BV(OCIE1A);
    reset();
    char line[LINE_LENGTH];
    uint8_t length = 0;
    bool is_too_long = false, is_comment = false;
    while (true) {
        attend();
        if (reset_is_wanted) {
            reset();
            length = 0;
            is_too_long = is_comment = false;
        }
        if (ring_head == ring_tail) {
            continue;
        }
        char byte = ring[ring_tail];
        ring_tail = (ring_tail + 1) % RING_LENGTH;
        if (byte == '\n' || byte == '\r') {
            line[length] = 0;
            uint8_t error = is_too_long ? 11 : line[0] == '$' ? run_system(line) : run_block(line);
            if (!reset_is_wanted) {
                if (error) {
                    put_error(error);
                } else {
                    put("ok\r\n");
                }
            }
            length = 0;
            is_too_long = is_comment = false;
        } else if (byte == '(' || byte == ';') {
            is_comment = true;
        } else if (byte == ')') {
            is_comment = false;
        } else if (byte != ' ' && !is_comment) {
            if (length < LINE_LENGTH - 1) {
                line[length++] = byte >= 'a' && byte <= 'z' ? byte - 32 : byte;
            } else {
                is_too_long = true;
            }
        }
    }
}
