import LineProtocol
import Terminal

/// What a pump says, for people.
enum PumpText {
    /// The status in rows of a name and a value.
    static func rows(_ status: PumpStatus) -> [(String, String)] {
        var rows = [("pump", power(status.power))]
        if let percent = status.speedPercent { rows.append(("speed", "\(percent) %")) }
        if let minutes = status.runtimeMinutes { rows.append(("runtime", "\(minutes) min")) }
        if let minutes = status.remainingMinutes { rows.append(("remaining", "\(minutes) min")) }
        rows += Self.rows(status.temperatures)
        if !status.temperatures.isReported, !status.otherFields.contains(where: { $0.temperature != nil }) {
            rows.append(("temperature", "not reported"))
        }
        rows += status.otherFields.map { row($0, beside: status.temperatures) }
        return rows
    }

    /// The answer to TEMP in rows of a name and a value.
    static func rows(ofReply temperatures: PumpTemperatures) -> [(String, String)] {
        rows(temperatures) + temperatures.otherFields.map { row($0, beside: temperatures) }
    }

    /// A field that is not known, or a temperature that is no number.
    private static func row(_ field: PumpStatusField, beside temperatures: PumpTemperatures) -> (String, String) {
        guard let temperature = field.temperature, temperatures[temperature] == nil else {
            return (field.name.printable(), field.value.printable())
        }
        return (temperature.rawValue, "unknown (the pump says '\(field.value.printable())')")
    }

    /// The temperatures in rows of a name and a value.
    static func rows(_ temperatures: PumpTemperatures) -> [(String, String)] {
        [("water", temperatures.water), ("skin", temperatures.skin), ("temp", temperatures.single)]
            .compactMap { name, reading in reading.map { (name, temperature($0)) } }
    }

    /// Rows as lines, the values aligned.
    static func table(_ rows: [(String, String)]) -> String {
        TextTable(["", ""], rows.map { [$0, $1] }).lines().joined(separator: "\n")
    }

    /// The status on one line.
    static func summary(_ status: PumpStatus) -> String {
        rows(status).map { "\($0) \($1)" }.joined(separator: ", ")
    }

    /// A reading to one decimal; one that no working thermistor gives is said to be a fault.
    static func temperature(_ reading: ThermistorReading) -> String {
        let text = oneDecimal(reading.celsius)
        return reading.isPlausible ? "\(text) °C" : "sensor fault (reads \(text) °C)"
    }

    /// What is wrong with the skin's temperature of a running pump, in a clause.
    static func skinFault(_ fault: SkinFault, _ status: PumpStatus) -> String {
        let reading = (status.temperatures.skin ?? status.temperatures.single).map { oneDecimal($0.celsius) } ?? "?"
        let range = SkinFault.skinRange
        let cause =
            switch fault {
            case .missing: "the pump names no skin temperature: it has no overheat protection"
            case .unreadable: "the skin temperature is no number"
            case .open: "the skin sensor reads \(reading) °C: its wire is broken"
            case .shorted: "the skin sensor reads \(reading) °C: it is short-circuited"
            case .outOfRange:
                "the skin sensor reads \(reading) °C, and skin is \(Int(range.lowerBound)) to \(Int(range.upperBound)) °C"
            }
        return cause + (fault == .missing ? "" : "; overheating may go unnoticed")
    }

    private static func power(_ power: PumpStatus.Power) -> String {
        switch power {
        case .on: "on"
        case .off: "off"
        case .error: "stopped for safety: 'pumpctl off' leaves this state"
        case .unknown: "unknown"
        }
    }

    private static func oneDecimal(_ value: Double) -> String {
        guard value.isFinite, abs(value) < 1e9 else { return "\(value)" }
        let tenths = Int((abs(value) * 10).rounded())
        return (value < 0 && tenths > 0 ? "-" : "") + "\(tenths / 10).\(tenths % 10)"
    }
}
