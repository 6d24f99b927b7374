import DeviceKit
import LineProtocol

extension ResultRecord {
    /// What a change brought about: nothing that was not read.
    ///
    /// - Parameter skinFault: What is wrong with the skin's temperature while the pump runs.
    init(pump state: String, speedPWM: Int? = nil, speedPercent: Int? = nil, skinFault: SkinFault? = nil) {
        self.init(["state": .text(state)])
        add("speed_pwm", speedPWM.map { .integer($0) })
        add("speed_percent", speedPercent.map { .integer($0) })
        add("skin_fault", skinFault.map { .text($0.rawValue) })
    }

    /// A pump's status.
    init(_ status: PumpStatus) {
        self.init(
            pump: status.power.rawValue, speedPercent: status.speedPercent.map(Int.init),
            skinFault: status.skinFaultWhileOn)
        add("runtime_min", status.runtimeMinutes.map { .integer(Int($0)) })
        add("remaining_min", status.remainingMinutes.map { .integer(Int($0)) })
        add(status.temperatures, status.otherFields)
    }

    /// The answer to TEMP.
    init(_ temperatures: PumpTemperatures) {
        self.init()
        add(temperatures, temperatures.otherFields)
    }

    /// The temperatures, a number only where the thermistor can be believed; and the fields of the same line that are not
    /// known, the first where one comes again.
    private mutating func add(_ temperatures: PumpTemperatures, _ others: [PumpStatusField]) {
        for name in others.compactMap(\.temperatureName) { add(Self.key(name), orNull: nil) }
        var faults: [String] = []
        for (name, reading) in temperatures.named {
            let key = Self.key(name)
            add(key, orNull: reading.isPlausible ? .number(reading.celsius) : nil)
            if !reading.isPlausible { faults.append(key) }
        }
        if !faults.isEmpty { add("sensor_faults", words: faults) }
        if !temperatures.isReported { add("temperatures_reported", .boolean(false)) }
        if !others.isEmpty { add("other", texts: Dictionary(others.map { ($0.name, $0.value) }) { first, _ in first }) }
    }

    private static func key(_ temperature: String) -> String {
        temperature == "temp" ? "temp_c" : "\(temperature)_temp_c"
    }
}
