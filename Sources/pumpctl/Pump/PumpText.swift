import DeviceKit
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
        let others = status.otherFields
        let isReported = status.temperatures.isReported || others.contains { $0.temperatureName != nil }
        return rows + (isReported ? [] : [("temperature", "not reported")]) + Self.rows(status.temperatures, others)
    }

    /// The temperatures in rows of a name and a value, and behind them the fields that are not known, or are no number.
    static func rows(_ temperatures: PumpTemperatures, _ others: [PumpStatusField]) -> [(String, String)] {
        let known = temperatures.named.map { ($0.name, $0.reading.text) }
        return known
            + others.map { field in
                guard let name = field.temperatureName, !known.contains(where: { $0.0 == name }) else {
                    return (field.name.printable(), field.value.printable())
                }
                return (name, "unknown (the pump says '\(field.value.printable())')")
            }
    }

    /// Rows as lines, the values aligned.
    static func table(_ rows: [(String, String)]) -> String {
        TextTable(["", ""], rows.map { [$0, $1] }).lines().joined(separator: "\n")
    }

    private static func power(_ power: PumpStatus.Power) -> String {
        switch power {
        case .on: "on"
        case .off: "off"
        case .error: "stopped for safety: 'pumpctl off' leaves this state"
        case .unknown: "unknown"
        }
    }
}
