#include "board.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "avr_adc.h"
#include "avr_ioport.h"
#include "avr_timer.h"
#include "avr_uart.h"
#include "sim_elf.h"
#include "sim_io.h"

enum { supply_millivolts = 5000, button_bit = 2, potentiometer_channel = 2 };

// ATmega328P registers, by their address in data space.
enum { reg_ddrb = 0x24, reg_portb = 0x25, reg_mcusr = 0x54, reg_tccr1a = 0x80, reg_ocr1al = 0x88, reg_ucsr0b = 0xc1 };
enum { com1a1 = 1 << 7, rxen0 = 1 << 4, porf = 1 << 0, extrf = 1 << 1 };

// A firmware that has not opened its UART by then is assumed not to use it.
enum { longest_boot = board_frequency / 2 };

// The address to which avr-gcc's linker maps RAM in an ELF file.
enum { elf_ram_offset = 0x800000 };

static void log_to_stderr(avr_t *avr, const int level, const char *format, va_list arguments) {
    (void)avr;
    if (level <= LOG_ERROR) {
        vfprintf(stderr, format, arguments);
    }
}

// simavr would pause the program while the AVR sleeps. The caller decides how fast simulated time passes, so this does
// nothing.
static void skip_sleep(avr_t *avr, avr_cycle_count_t how_long) {
    (void)avr;
    (void)how_long;
}

// The 10-bit reading of a divider with a thermistor at a temperature: NTC 10 kOhm at 25 C, B 3950, to +5 V.
static uint16_t thermistor_reading(double celsius) {
    // In units of the series resistor, which equals the thermistor's nominal resistance.
    double thermistor = exp(3950.0 * (1.0 / (celsius + 273.15) - 1.0 / 298.15));
    // The datasheet's conversion result: Vin * 1024 / Vref, truncated.
    double result = 1024.0 / (1.0 + thermistor);
    return result < 1023.0 ? (uint16_t)result : 1023;
}

// Applies the voltage for a reading of 0-1023 to an analogue input. The firmware sees it at its next conversion.
static void put_reading(struct board *board, int channel, uint16_t reading) {
    // Rounded up, because simavr rounds down when it converts the voltage back.
    uint32_t millivolts = ((uint32_t)reading * supply_millivolts + 1022) / 1023;
    avr_raise_irq(avr_io_getirq(board->avr, AVR_IOCTL_ADC_GETIRQ, ADC_IRQ_ADC0 + channel), millivolts);
}

static void put_probe(struct board *board, enum board_probe probe) {
    switch (board->probes[probe].condition) {
    case condition_sound:
        put_reading(board, probe, thermistor_reading(board->probes[probe].celsius));
        break;
    case condition_open:
        put_reading(board, probe, 0);
        break;
    case condition_shorted:
        put_reading(board, probe, 1023);
        break;
    }
}

void board_set_temperature(struct board *board, enum board_probe probe, double celsius) {
    board->probes[probe].celsius = celsius;
    put_probe(board, probe);
}

void board_set_condition(struct board *board, enum board_probe probe, enum board_condition condition) {
    board->probes[probe].condition = condition;
    put_probe(board, probe);
}

void board_set_knob(struct board *board, uint16_t reading) {
    board->knob = reading;
    put_reading(board, potentiometer_channel, reading);
}

// Applies all inputs again, because simavr forgets them at a reset.
static void apply_inputs(struct board *board) {
    put_probe(board, probe_water);
    put_probe(board, probe_skin);
    board_set_knob(board, board->knob);
    // simavr applies a pin's level only if it changes, so change it twice.
    board_set_button(board, !board->button_down);
    board_set_button(board, !board->button_down);
}

// The RAM address of a variable, 0 if there is none.
static uint16_t find_variable(const elf_firmware_t *firmware, const char *name) {
    for (uint32_t i = 0; i < firmware->symbolcount; i++) {
        const avr_symbol_t *symbol = firmware->symbol[i];
        if (strcmp(symbol->symbol, name) == 0 && symbol->addr >= elf_ram_offset) {
            return symbol->addr - elf_ram_offset;
        }
    }
    return 0;
}

// simavr lacks mode 1 of timer 1, the 8-bit PWM that Arduino uses on D9 and D10, and makes it overflow at each count.
// Fast PWM has the same range, and the motor's pulse width is read from its register. This change alone halves the real
// time that the simulation takes.
static void complete_timer_modes(avr_t *avr) {
    for (avr_io_t *module = avr->io_port; module != NULL; module = module->next) {
        if (strcmp(module->kind, "timer") == 0 && ((avr_timer_t *)module)->name == '1') {
            ((avr_timer_t *)module)->wgm_op[1] = (avr_timer_wgm_t)AVR_TIMER_WGM_FASTPWM8();
        }
    }
}

// simavr's own reset of the chip, which it calls within avr_run, also for the watchdog; and whether that has happened
// since `follow_reset` was last called.
static void (*reset_chip)(avr_t *avr);
static bool was_reset;

static void note_reset(avr_t *avr) {
    was_reset = true;
    if (reset_chip != NULL) {
        reset_chip(avr);
    }
}

bool board_load(struct board *board, const char *elf) {
    avr_global_logger_set(log_to_stderr);

    elf_firmware_t firmware;
    memset(&firmware, 0, sizeof firmware);
    if (elf_read_firmware(elf, &firmware) != 0 || firmware.flashsize == 0) {
        fprintf(stderr, "nano-sim: %s is not AVR firmware\n", elf);
        return false;
    }
    // Arduino firmware has no .mmcu section with these values.
    firmware.frequency = board_frequency;
    firmware.vcc = firmware.avcc = firmware.aref = supply_millivolts;

    avr_t *avr = avr_make_mcu_by_name("atmega328p");
    if (avr == NULL) {
        fprintf(stderr, "nano-sim: this simavr does not know the atmega328p\n");
        return false;
    }
    avr_init(avr);
    complete_timer_modes(avr);
    avr->log = LOG_ERROR;
    avr->sleep = skip_sleep;
    if (firmware.flashbase + firmware.flashsize > avr->flashend + 1) {
        fprintf(stderr, "nano-sim: %s does not fit an ATmega328P\n", elf);
        return false;
    }
    avr_load_firmware(avr, &firmware);

    uint32_t flags = 0;
    avr_ioctl(avr, AVR_IOCTL_UART_GET_FLAGS('0'), &flags);
    flags &= ~(AVR_UART_FLAG_STDIO | AVR_UART_FLAG_POLL_SLEEP);
    avr_ioctl(avr, AVR_IOCTL_UART_SET_FLAGS('0'), &flags);

    reset_chip = avr->reset;
    avr->reset = note_reset;
    board->avr = avr;
    board->millis_address = find_variable(&firmware, "timer0_millis");
    board->overflows_address = find_variable(&firmware, "timer0_overflow_count");
    board->serial_address = find_variable(&firmware, "Serial");
    return true;
}

void board_set_button(struct board *board, bool down) {
    board->button_down = down;
    // Without this, simavr's pull-up takes over again at the firmware's next write to the port.
    avr_ioport_external_t external = {
        .name = 'D',
        .mask = 1 << button_bit,
        .value = down ? 0 : 1 << button_bit,
    };
    avr_ioctl(board->avr, AVR_IOCTL_IOPORT_SET_EXTERNAL('D'), &external);
    avr_raise_irq(avr_io_getirq(board->avr, AVR_IOCTL_IOPORT_GETIRQ('D'), button_bit), !down);
}

// simavr takes 11 bits for a byte of 8N1, which has 10.
static void correct_byte_time(struct board *board) {
    for (avr_io_t *module = board->avr->io_port; module != NULL; module = module->next) {
        if (strcmp(module->kind, "uart") == 0) {
            avr_uart_t *uart = (avr_uart_t *)module;
            uart->cycles_per_byte = uart->cycles_per_byte * 10 / 11;
        }
    }
}

static bool is_uart_open(const struct board *board) {
    return board->avr->data[reg_ucsr0b] & rxen0;
}

// Handles a reset of any cause: applies the inputs again, and corrects the UART's byte time once the firmware has
// opened the UART.
static void follow_reset(struct board *board) {
    if (was_reset) {
        was_reset = false;
        board->reset_cycles = board->cycles;
        board->is_starting = true;
        board->is_hung = false;
        if (board->clears_cause) {
            board->avr->data[reg_mcusr] = 0;
        }
        apply_inputs(board);
    }
    if (board->is_starting && is_uart_open(board)) {
        board->is_starting = false;
        correct_byte_time(board);
    }
}

bool board_run(struct board *board, uint64_t cycles) {
    avr_t *avr = board->avr;
    uint64_t end = board->cycles + cycles;
    while (board->cycles < end) {
        avr_cycle_count_t begin = avr->cycle;
        int state = avr_run(avr);
        if (state == cpu_Done || state == cpu_Crashed) {
            return false;
        }
        if (was_reset || board->is_starting) {
            follow_reset(board);
        }
        if (board->is_hung) {
            memcpy(avr->data + board->millis_address, board->hung_millis, sizeof board->hung_millis);
        }
        board->cycles += avr->cycle - begin;
    }
    return true;
}

void board_reset(struct board *board) {
    avr_reset(board->avr);
    board->avr->data[reg_mcusr] = board->is_on ? extrf : porf;
    board->is_on = true;
    follow_reset(board);
    uint64_t begin = board->cycles;
    while (!is_uart_open(board) && board->cycles - begin < longest_boot) {
        if (!board_run(board, 1)) {
            return;
        }
    }
}

// Runs until interrupts are enabled, so that no code is halfway through reading or writing a counter. False if they
// never are.
static bool run_to_safe_point(struct board *board) {
    for (int attempts = 0; !board->avr->sreg[S_I]; attempts++) {
        if (attempts == 100000 || !board_run(board, 1)) {
            return false;
        }
    }
    return true;
}

// Adds a number to a 32-bit counter of the firmware.
static void add_to_counter(struct board *board, uint16_t address, uint32_t number) {
    uint8_t *bytes = board->avr->data + address;
    uint32_t count = bytes[0] | bytes[1] << 8 | bytes[2] << 16 | (uint32_t)bytes[3] << 24;
    count += number;
    for (int i = 0; i < 4; i++) {
        bytes[i] = count >> (8 * i);
    }
}

bool board_skip(struct board *board, uint32_t milliseconds) {
    if (board->millis_address == 0 || !run_to_safe_point(board)) {
        return false;
    }
    add_to_counter(board, board->millis_address, milliseconds);
    return true;
}

bool board_jump(struct board *board) {
    if (!board_skip(board, board_jump_milliseconds)) {
        return false;
    }
    if (board->overflows_address != 0) {
        add_to_counter(board, board->overflows_address, board_jump_overflows);
    }
    return true;
}

bool board_hang(struct board *board) {
    board->is_hung = board->millis_address != 0;
    memcpy(board->hung_millis, board->avr->data + board->millis_address, sizeof board->hung_millis);
    return board->is_hung;
}

int board_receive_head(const struct board *board) {
    // HardwareSerial: a pointer to the vtable, one member of Print, two of Stream, six pointers to registers, a flag,
    // then the ring's head.
    enum { receive_head_offset = 2 + 2 + 4 + 4 + 6 * 2 + 1 };
    return board->serial_address == 0 ? 0 : board->avr->data[board->serial_address + receive_head_offset];
}

// The level of an output bit of port B.
static bool port_b(const struct board *board, int bit) {
    const uint8_t *data = board->avr->data;
    return (data[reg_ddrb] & data[reg_portb]) >> bit & 1;
}

bool board_pump_enabled(const struct board *board) {
    return port_b(board, 0);
}

uint8_t board_pump_duty(const struct board *board) {
    // analogWrite sets 0 and 255 as plain levels, with the timer disconnected from the pin.
    if (board->avr->data[reg_tccr1a] & com1a1) {
        return board->avr->data[reg_ocr1al];
    }
    return port_b(board, 1) ? 255 : 0;
}

bool board_power_led(const struct board *board) {
    return port_b(board, 4);
}

bool board_status_led(const struct board *board) {
    return port_b(board, 5);
}
