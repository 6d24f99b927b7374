/// The logic of the firmware. The controller derives the lines to print and the state of the motor from commands, the
/// button, the potentiometer and the probes.
///
/// The controller knows neither the UART nor the loop: its functions return the lines to print, without their ends.
/// Times are the firmware's `millis()`, the milliseconds since boot.
struct PumpController: Sendable {
    /// Milliseconds between the unsolicited status lines of a running pump, counted from boot.
    static let reportInterval = 5000
    /// The skin temperature in °C above which a running pump shuts off.
    static let overheatLimit: Float = 40

    let options: PumpFirmwareOptions
    private(set) var motor = PumpMotor()
    var surroundings: PumpSurroundings
    private var potentiometerFilter = PotentiometerFilter()
    /// The time at which the last periodic status line was due.
    private var lastReport = 0

    init(options: PumpFirmwareOptions) {
        self.options = options
        surroundings = PumpSurroundings(heat: options.heat, potentiometer: options.potentiometer)
    }

    /// Resets the state that a microcontroller forgets, including a button press that was not handled yet. The probes,
    /// the potentiometer and a stuck error state stay as they are.
    mutating func reset() {
        let isStuck = motor.isStuck
        motor = PumpMotor()
        motor.isStuck = isStuck
        potentiometerFilter = PotentiometerFilter()
        lastReport = 0
        surroundings.buttonPressed = false
    }

    /// Whether the pump does nothing unsolicited: it does not run, and its button was not pressed.
    var isIdle: Bool { motor.state != .on && !surroundings.buttonPressed }

    /// Sets whether the pump is kept in the error state.
    mutating func setStuck(_ isStuck: Bool) { motor.isStuck = isStuck }

    // MARK: Unsolicited output

    /// Shuts off a pump that has run for too long, or whose skin probe is too warm.
    mutating func checkSafety(at millis: Int) -> [String] {
        guard motor.state == .on else { return [] }
        let skin = surroundings.skinReading
        if motor.runtime(at: millis) >= PumpMotor.longestRun {
            motor.shutOff()
            return PumpText.safetyShutOff
        } else if options.thermistors != .zero, skin > Self.overheatLimit {
            motor.shutOff()
            return PumpText.overheat(skin: skin, printsFloats: options.printsFloats)
        } else {
            return []
        }
    }

    /// Handles a press of the button: starts a pump that is off, and switches any other pump off.
    mutating func readButton(at millis: Int) -> [String] {
        guard surroundings.buttonPressed else { return [] }
        surroundings.buttonPressed = false
        if motor.state == .off {
            _ = motor.start(at: millis)
            return ["MANUAL:ON"]
        } else {
            motor.stop()
            return ["MANUAL:OFF"]
        }
    }

    /// Sets the motor to the duty that the potentiometer demands. Returns the duty; nil if the pump does not run, or if
    /// ``PotentiometerFilter/take(_:)`` returns nil.
    mutating func readPotentiometer() -> UInt8? {
        guard motor.state == .on, let duty = potentiometerFilter.take(surroundings.potentiometer) else { return nil }
        motor.setDuty(duty)
        return duty
    }

    /// Returns the periodic status line of a running pump if the line is due; otherwise none. The period goes on,
    /// without output, while the pump does not run. A call that comes late does not shift later status lines.
    mutating func report(at millis: Int) -> [String] {
        let elapsed = millis - lastReport
        guard elapsed >= Self.reportInterval else { return [] }
        lastReport = millis - elapsed % Self.reportInterval
        return motor.state == .on ? [status(at: millis)] : []
    }

    // MARK: Commands

    mutating func reply(to input: PumpCommandLine.Input, at millis: Int) -> [String] {
        guard case .line(let line) = input else { return [PumpText.commandTooLong] }
        switch PumpCommand(line: line, saturatesNumbers: options.saturatesNumbers) {
        case .on:
            return motor.start(at: millis) ? ["OK", "PUMP:ON"] : [PumpText.startFailed]
        case .off:
            motor.stop()
            return ["OK", "PUMP:OFF"]
        case .speed(let value):
            guard let duty = UInt8(exactly: value) else { return [PumpText.invalidSpeed] }
            guard motor.state == .on else { return [PumpText.notRunning] }
            motor.setDuty(duty)
            return ["OK", "SPEED:\(duty)"]
        case .status:
            return [status(at: millis)]
        case .temperature:
            return [
                PumpText.temperatures(
                    water: surroundings.waterReading, skin: surroundings.skinReading, thermistors: options.thermistors)
            ]
        case .unknown:
            return [PumpText.unknownCommand]
        }
    }

    private func status(at millis: Int) -> String {
        PumpText.status(
            motor, runtime: motor.runtime(at: millis), water: surroundings.waterReading,
            skin: surroundings.skinReading, options: options)
    }
}
