#include "board.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "avr_adc.h"
#include "avr_ioport.h"
#include "avr_uart.h"
#include "sim_elf.h"
#include "sim_io.h"

enum { supply_millivolts = 5000, button_bit = 2 };

// ATmega328P registers, by their address in data space.
enum { reg_ddrb = 0x24, reg_portb = 0x25, reg_tccr1a = 0x80, reg_ocr1al = 0x88, reg_ucsr0b = 0xc1 };
enum { com1a1 = 1 << 7, rxen0 = 1 << 4 };

// Firmware that has not opened its UART by then is taken to have no use for it.
enum { longest_boot = board_frequency / 2 };

// Where avr-gcc's linker maps RAM in an ELF.
enum { elf_ram_offset = 0x800000 };

static void log_to_stderr(avr_t *avr, const int level, const char *format, va_list arguments) {
    (void)avr;
    if (level <= LOG_ERROR) {
        vfprintf(stderr, format, arguments);
    }
}

// Simulated time passes in the caller's loop; a sleeping AVR is no reason to sleep here.
static void skip_sleep(avr_t *avr, avr_cycle_count_t how_long) {
    (void)avr;
    (void)how_long;
}

// simavr forgets the outside world at a reset.
static void apply_inputs(struct board *board) {
    for (int input = input_water; input <= input_potentiometer; input++) {
        board_set_input(board, input, board->readings[input]);
    }
    // A pin's level counts only when it changes.
    board_set_button(board, !board->button_down);
    board_set_button(board, !board->button_down);
}

static uint16_t find_millis(const elf_firmware_t *firmware) {
    for (uint32_t i = 0; i < firmware->symbolcount; i++) {
        const avr_symbol_t *symbol = firmware->symbol[i];
        if (strcmp(symbol->symbol, "timer0_millis") == 0 && symbol->addr >= elf_ram_offset) {
            return symbol->addr - elf_ram_offset;
        }
    }
    return 0;
}

bool board_load(struct board *board, const char *elf) {
    avr_global_logger_set(log_to_stderr);

    elf_firmware_t firmware;
    memset(&firmware, 0, sizeof firmware);
    if (elf_read_firmware(elf, &firmware) != 0 || firmware.flashsize == 0) {
        fprintf(stderr, "nano-sim: %s is no AVR firmware\n", elf);
        return false;
    }
    // Arduino firmware carries no .mmcu section that would say so.
    firmware.frequency = board_frequency;
    firmware.vcc = firmware.avcc = firmware.aref = supply_millivolts;

    avr_t *avr = avr_make_mcu_by_name("atmega328p");
    if (avr == NULL) {
        fprintf(stderr, "nano-sim: this simavr does not know the atmega328p\n");
        return false;
    }
    avr_init(avr);
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

    board->avr = avr;
    board->millis_address = find_millis(&firmware);
    return true;
}

uint16_t board_thermistor_reading(double celsius) {
    // In units of the series resistor, which equals the thermistor's nominal resistance.
    double thermistor = exp(3950.0 * (1.0 / (celsius + 273.15) - 1.0 / 298.15));
    // The datasheet's conversion result: Vin * 1024 / Vref, truncated.
    double result = 1024.0 / (1.0 + thermistor);
    return result < 1023.0 ? (uint16_t)result : 1023;
}

void board_set_input(struct board *board, enum board_input input, uint16_t reading) {
    board->readings[input] = reading;
    // simavr rounds down when it converts back.
    uint32_t millivolts = ((uint32_t)reading * supply_millivolts + 1022) / 1023;
    avr_raise_irq(avr_io_getirq(board->avr, AVR_IOCTL_ADC_GETIRQ, ADC_IRQ_ADC0 + input), millivolts);
}

void board_set_button(struct board *board, bool down) {
    board->button_down = down;
    // Without this simavr's pull-up wins again at the firmware's next write to the port.
    avr_ioport_external_t external = {
        .name = 'D',
        .mask = 1 << button_bit,
        .value = down ? 0 : 1 << button_bit,
    };
    avr_ioctl(board->avr, AVR_IOCTL_IOPORT_SET_EXTERNAL('D'), &external);
    avr_raise_irq(avr_io_getirq(board->avr, AVR_IOCTL_IOPORT_GETIRQ('D'), button_bit), !down);
}

bool board_run(struct board *board, uint64_t cycles) {
    avr_t *avr = board->avr;
    avr_cycle_count_t begin = avr->cycle;
    while (avr->cycle - begin < cycles) {
        int state = avr_run(avr);
        if (state == cpu_Done || state == cpu_Crashed) {
            return false;
        }
    }
    board->cycles += avr->cycle - begin;
    return true;
}

void board_reset(struct board *board) {
    avr_reset(board->avr);
    apply_inputs(board);
    board->reset_cycles = board->cycles;
    uint64_t begin = board->cycles;
    while (!(board->avr->data[reg_ucsr0b] & rxen0) && board->cycles - begin < longest_boot) {
        if (!board_run(board, 1)) {
            return;
        }
    }
}

bool board_skip(struct board *board, uint32_t milliseconds) {
    if (board->millis_address == 0) {
        return false;
    }
    // With interrupts enabled no code is halfway through reading or writing the counter.
    for (int attempts = 0; !board->avr->sreg[S_I]; attempts++) {
        if (attempts == 100000 || !board_run(board, 1)) {
            return false;
        }
    }
    uint8_t *bytes = board->avr->data + board->millis_address;
    uint32_t millis = bytes[0] | bytes[1] << 8 | bytes[2] << 16 | (uint32_t)bytes[3] << 24;
    millis += milliseconds;
    for (int i = 0; i < 4; i++) {
        bytes[i] = millis >> (8 * i);
    }
    return true;
}

// The level that an output bit of port B drives.
static bool port_b(const struct board *board, int bit) {
    const uint8_t *data = board->avr->data;
    return (data[reg_ddrb] & data[reg_portb]) >> bit & 1;
}

bool board_pump_enabled(const struct board *board) {
    return port_b(board, 0);
}

uint8_t board_pump_duty(const struct board *board) {
    // analogWrite sets 0 and 255 as plain levels, with the timer taken off the pin.
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
