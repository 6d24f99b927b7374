/// What the firmware makes of commands, the button, the potentiometer and the probes: lines to print, and a motor to run.
///
/// Knows neither the UART nor the loop. Times are the firmware's `millis()`, the milliseconds since it booted.
struct PumpController: Sendable {
    /// Milliseconds between the status lines that a running pump sends unasked.
    static let reportInterval = 5000
    /// °C of the skin above which a running pump shuts off.
    static let overheatLimit: Float = 40

    let options: PumpFirmwareOptions
    private(set) var motor = PumpMotor()
    var surroundings: PumpSurroundings
    private var potentiometerFilter = PotentiometerFilter()
    private var lastReport = 0

    init(options: PumpFirmwareOptions) {
        self.options = options
        surroundings = PumpSurroundings(heat: options.heat, potentiometer: options.potentiometer)
    }

    /// Forgets all that a microcontroller forgets. What surrounds it stays.
    mutating func reset() {
        motor = PumpMotor()
        potentiometerFilter = PotentiometerFilter()
        lastReport = 0
        surroundings.buttonPressed = false
    }

    // MARK: What it does unasked

    mutating func checkSafety(at millis: Int) -> [String] {
        guard motor.state == .on else { return [] }
        let skin = surroundings.skinReading
        if motor.runtime(at: millis) >= PumpMotor.longestRun {
            motor.shutOff()
            return PumpText.safetyShutOff
        } else if skin > Self.overheatLimit {
            motor.shutOff()
            return PumpText.overheat(skin: skin, printsFloats: options.printsFloats)
        } else {
            return []
        }
    }

    mutating func readButton(at millis: Int) -> [String] {
        guard surroundings.buttonPressed else { return [] }
        surroundings.buttonPressed = false
        if motor.state == .off {
            _ = start(at: millis)
            return ["MANUAL:ON"]
        } else {
            motor.stop()
            return ["MANUAL:OFF"]
        }
    }

    /// The duty that the potentiometer set, if it did.
    mutating func readPotentiometer() -> UInt8? {
        guard motor.state == .on, let duty = potentiometerFilter.take(surroundings.potentiometer) else { return nil }
        motor.setDuty(duty)
        return duty
    }

    mutating func report(at millis: Int) -> [String] {
        guard motor.state == .on, millis - lastReport >= Self.reportInterval else { return [] }
        lastReport = millis
        return [status(at: millis)]
    }

    // MARK: What it is told

    mutating func reply(to input: PumpCommandLine.Input, at millis: Int) -> [String] {
        guard case .line(let line) = input else { return [PumpText.commandTooLong] }
        switch PumpCommand(line: line) {
        case .on:
            return start(at: millis) ? ["OK", "PUMP:ON"] : [PumpText.startFailed]
        case .off:
            motor.stop()
            return ["OK", "PUMP:OFF"]
        case .speed(let value):
            guard motor.state == .on else { return [PumpText.notRunning] }
            guard let duty = UInt8(exactly: value) else { return [PumpText.invalidSpeed] }
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

    /// Starts or restarts the run. Status lines are counted from when the pump came on, not from a restart.
    private mutating func start(at millis: Int) -> Bool {
        let wasOff = motor.state == .off
        guard motor.start(at: millis) else { return false }
        if wasOff { lastReport = millis }
        return true
    }

    private func status(at millis: Int) -> String {
        PumpText.status(
            motor, runtime: motor.runtime(at: millis), water: surroundings.waterReading,
            skin: surroundings.skinReading, options: options)
    }
}
