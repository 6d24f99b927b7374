import DeviceKit
import LineProtocol
import Terminal

/// The text form of a pump's status and temperatures.
enum PumpText {
    /// Returns the status as rows of a name and a value.
    static func rows(_ status: PumpStatus) -> [(String, String)] {
        var rows = [("pump", power(status.power))]
        if let percent = status.speedPercent { rows.append(("speed", "\(percent) %")) }
        if let minutes = status.runtimeMinutes { rows.append(("runtime", "\(minutes) min")) }
        if let minutes = status.remainingMinutes { rows.append(("remaining", "\(minutes) min")) }
        let (temperatures, others) = (status.temperatures, status.otherFields)
        let isReported = !temperatures.texts(beside: others).isEmpty
        return rows + (isReported ? [] : [("temperature", "not reported")]) + Self.rows(temperatures, others)
    }

    /// Returns the temperatures, including those that can't be read, as rows of a name and a value, followed by the
    /// remaining fields.
    static func rows(_ temperatures: PumpTemperatures, _ others: [PumpStatusField]) -> [(String, String)] {
        let read = temperatures.named.map(\.name)
        let rest = others.filter { $0.temperatureName.map(read.contains) ?? true }
        return temperatures.texts(beside: others).map { ($0.name, $0.text) }
            + rest.map { ($0.name.asWord, $0.value.printable()) }
    }

    /// Returns the reason why there is no temperature: the pump reports none, or a field that can't be read.
    static func absence(of temperatures: PumpTemperatures) -> String {
        let fields = temperatures.otherFields.map { "\($0.name):\($0.value)".asWord }.joined(separator: ", ")
        return fields.isEmpty
            ? "the pump reports no temperature" : "no temperature can be read; the pump reports \(fields)"
    }

    /// Formats rows as lines with aligned values.
    static func table(_ rows: [(String, String)]) -> String {
        TextTable(["", ""], rows.map { [$0, $1] }).lines().joined(separator: "\n")
    }

    private static func power(_ power: PumpStatus.Power) -> String {
        switch power {
        case .on: "on"
        case .off: "off"
        case .error: "stopped for safety: 'pumpctl off' clears this state"
        case .unknown: "unknown"
        }
    }
}
