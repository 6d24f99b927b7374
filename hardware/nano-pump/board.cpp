#include "board.h"

#include <Arduino.h>
#include <avr/sleep.h>

namespace {

const uint8_t buttonPin = 2;
const uint8_t enablePin = 8;
const uint8_t pwmPin = 9;
const uint8_t powerLedPin = 12;
const uint8_t statusLedPin = 13;
const uint8_t waterPin = A0;
const uint8_t skinPin = A1;
const uint8_t potentiometerPin = A2;

}

void Board::begin() {
    // The level first, then the direction: an output never glitches high.
    drive(false, 0);
    pinMode(enablePin, OUTPUT);
    pinMode(buttonPin, INPUT_PULLUP);
    pinMode(powerLedPin, OUTPUT);
    pinMode(statusLedPin, OUTPUT);
    digitalWrite(powerLedPin, HIGH);
    Serial.begin(baud);
    set_sleep_mode(SLEEP_MODE_IDLE);
    // Arduino's start-up leaves timer 2 running for PWM on pins that are not used here.
    TCCR2B = 0;
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

void Board::drive(bool enabled, uint8_t duty) {
    analogWrite(pwmPin, duty);
    digitalWrite(enablePin, enabled ? HIGH : LOW);
}

void Board::line(const char *text) {
    Serial.println(text);
}
