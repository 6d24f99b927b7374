/// The actions of people and of the environment on the pump.
extension PumpFirmware {
    /// Presses and releases the button on the lid.
    ///
    /// The firmware notices the press in its next turn, and two presses within one turn count as one press. A press
    /// while the board boots is lost.
    public mutating func pressButton(at instant: Duration) {
        run(to: instant)
        controller.surroundings.buttonPressed = !isBooting
    }

    /// Turns the speed potentiometer to an ADC reading, which is limited to 0...1023.
    public mutating func setPotentiometer(_ reading: Int) {
        controller.surroundings.potentiometer = reading
    }

    /// Sets the water temperature in °C. Unless the heat model is fixed, the temperature moves on from there.
    public mutating func setWaterTemperature(_ celsius: Double) {
        controller.surroundings.advance(to: now, duty: controller.motor.duty)
        controller.surroundings.heat.water = celsius
    }

    /// Sets the skin temperature in °C. Unless the heat model is fixed, the temperature moves on from there.
    public mutating func setSkinTemperature(_ celsius: Double) {
        controller.surroundings.advance(to: now, duty: controller.motor.duty)
        controller.surroundings.heat.skin = celsius
    }

    /// Breaks or mends the water probe.
    public mutating func setWaterThermistor(_ condition: ThermistorCondition) {
        controller.surroundings.waterThermistor = condition
    }

    /// Breaks or mends the skin probe.
    public mutating func setSkinThermistor(_ condition: ThermistorCondition) {
        controller.surroundings.skinThermistor = condition
    }
}

/// The visible and measurable state of the pump.
extension PumpFirmware {
    /// The state of the pump.
    public var state: PumpState { controller.motor.state }
    /// PWM duty on D9, 0...255; 0 unless the pump runs.
    public var duty: UInt8 { controller.motor.duty }
    /// Whether the driver's enable pin, D8, is high, which it is while the pump runs.
    public var isEnabled: Bool { controller.motor.state == .on }
    /// Whether the LED on D12 is lit, which it is from the beginning of `setup()`.
    public var powerLED: Bool { step != .beginSetup }
    /// Whether the LED on D13 is lit, which it is while the loop blinks.
    public var statusLED: Bool { step == .pause && !isBooting && stepDue > now }
    /// Whether the bootloader or `setup()` runs.
    public var isBooting: Bool { step == .beginSetup || step == .greet }
    /// The temperatures of water and skin, °C, as of the last turn, reset or setting of a temperature.
    public var heat: HeatModel { controller.surroundings.heat }
    /// The number of received bytes lost to a full UART since the simulation began. Bytes that the bootloader swallows
    /// don't count.
    public var receiveOverflows: Int { uart.overflows }
}
