/// The lines that the pump prints, without their ends.
enum PumpText {
    static let unknownCommand = "ERROR:UNKNOWN_COMMAND"
    static let commandTooLong = "ERROR:CMD_TOO_LONG"
    static let startFailed = "ERROR:PUMP_START_FAILED"
    static let notRunning = "ERROR:PUMP_NOT_RUNNING"
    static let invalidSpeed = "ERROR:INVALID_SPEED_VALUE"
    static let safetyShutOff = ["ERROR:SAFETY_SHUTOFF", "Maximum runtime exceeded"]

    static func overheat(skin: Float, printsFloats: Bool) -> [String] {
        ["ERROR:OVERHEAT", "Skin temperature too high: \(printsFloats ? oneDecimal(skin) : "?")C"]
    }

    static func temperatures(water: Float, skin: Float, thermistors: PumpFirmwareOptions.Thermistors) -> String {
        switch thermistors {
        case .zero: "TEMP:{Water:?C,Skin:?C}"
        case .one: "TEMP:\(oneDecimal(skin))"
        case .two: "TEMP:{Water:\(oneDecimal(water))C,Skin:\(oneDecimal(skin))C}"
        }
    }

    /// Returns the status line.
    ///
    /// - Parameter runtime: Milliseconds since the run began; 0 if the pump does not run.
    static func status(
        _ motor: PumpMotor, runtime: Int, water: Float, skin: Float, options: PumpFirmwareOptions
    ) -> String {
        var fields = ["State:\(motor.state.rawValue)"]
        if motor.state == .on || options.reportsTimesWhenStopped {
            let remaining = max(0, PumpMotor.longestRun - runtime)
            fields.append("Speed:\(Int(motor.duty) * 100 / 255)%")
            fields.append("Runtime:\(runtime / 60_000)m")
            fields.append("Remaining:\(remaining / 60_000)m")
        }
        switch options.thermistors {
        case .zero: fields += ["WaterTemp:?C", "SkinTemp:?C"]
        case .one:
            fields.append("Temp:\(oneDecimal(skin))C")
        case .two:
            fields.append("WaterTemp:\(oneDecimal(water))C")
            fields.append("SkinTemp:\(oneDecimal(skin))C")
        }
        return "STATUS:{\(fields.joined(separator: ","))}"
    }

    static func banner(_ options: PumpFirmwareOptions) -> [String] {
        switch options.bootBanner {
        case .off: return []
        case .hello: return ["HELLO:pump"]
        case .banner:
            let rule = String(repeating: "=", count: 40)
            let baud =
                switch options.lineRate {
                case .baud(let bitsPerSecond): bitsPerSecond
                case .unlimited: 9600
                }
            return [
                rule, "Device: Arduino Nano pump", "Version: 1.0", "Baud Rate: \(baud)", "Ready for commands...", rule,
            ]
        }
    }
}
