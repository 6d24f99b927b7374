#include "board.h"

#include <Arduino.h>
#include <avr/sleep.h>
#include <avr/wdt.h>

#include "src/reset_cause.h"

namespace {

const uint8_t buttonPin = 2;
const uint8_t enablePin = 8;
const uint8_t pwmPin = 9;
const uint8_t powerLedPin = 12;
const uint8_t statusLedPin = 13;
const uint8_t waterPin = A0;
const uint8_t skinPin = A1;
const uint8_t potentiometerPin = A2;

/// Milliseconds without `feedWatchdog` after which the main loop counts as hung. The watchdog may fire up to 10 %
/// early, and `trace` must be `hung` before it fires.
const uint16_t hungTime = Board::watchdogTime * 3 / 4;

// Not cleared at the start, so that `trace` survives a reset, and the other two survive the C start-up code after
// `keepReset` has set them.
uint8_t resetFlags __attribute__((section(".noinit")));
Trace traceBefore __attribute__((section(".noinit")));
volatile Trace trace __attribute__((section(".noinit")));

/// Milliseconds since the watchdog was last fed.
volatile uint16_t sinceFed = 0;

}

/// Runs before main(). After a watchdog reset the watchdog keeps running, with its shortest time-out, so it must be
/// switched off first.
void keepReset() __attribute__((naked, used, section(".init3")));
void keepReset() {
    resetFlags = MCUSR;
    MCUSR = 0;
    wdt_disable();
    traceBefore = trace;
    trace = Trace::none;
}

/// Runs once a millisecond after the first `feedWatchdog`, on the same timer as Arduino's clock tick.
ISR(TIMER0_COMPA_vect) {
    if (sinceFed < hungTime) {
        sinceFed++;
    } else {
        trace = Trace::hung;
    }
}

void Board::begin() {
    // Set the level before the direction, so that an output never glitches high.
    drive(false, 0);
    pinMode(enablePin, OUTPUT);
    pinMode(buttonPin, INPUT_PULLUP);
    pinMode(powerLedPin, OUTPUT);
    pinMode(statusLedPin, OUTPUT);
    digitalWrite(powerLedPin, HIGH);
    Serial.begin(baud);
    set_sleep_mode(SLEEP_MODE_IDLE);
    // Arduino's start-up leaves timer 2 running for PWM pins that this sketch does not use.
    TCCR2B = 0;
    trace = Trace::running;
}

Inputs Board::inputs() const {
    return {
        millis(),
        uint16_t(analogRead(waterPin)),
        uint16_t(analogRead(skinPin)),
        uint16_t(analogRead(potentiometerPin)),
    };
}

bool Board::buttonDown() const {
    return digitalRead(buttonPin) == LOW;
}

bool Board::receive(char &byte) {
    int value = Serial.read();
    if (value < 0) {
        return false;
    }
    byte = char(value);
    return true;
}

void Board::statusLed(bool lit) {
    digitalWrite(statusLedPin, lit ? HIGH : LOW);
}

void Board::nap() {
    sleep_mode();
}

const char *Board::startedBy() const {
    return resetCause(resetFlags, traceBefore);
}

void Board::feedWatchdog() {
    // The chip's constant for `watchdogTime`.
    wdt_enable(WDTO_1S);
    // The interrupt handler uses both variables, and writing 16 bits takes this chip two instructions.
    cli();
    sinceFed = 0;
    trace = Trace::running;
    sei();
    TIMSK0 |= _BV(OCIE0A);
}

void Board::drive(bool enabled, uint8_t duty) {
    analogWrite(pwmPin, duty);
    digitalWrite(enablePin, enabled ? HIGH : LOW);
}

void Board::line(const char *text) {
    Serial.println(text);
}
