public import LineProtocol

extension PumpStatus: Encodable {
    /// In JSON, by the keys of the family's state, `state`, `speed_percent`, `runtime_min` and `remaining_min` where they are
    /// known; `skin_fault` where the skin's temperature of a pump that runs can't be relied on; and what
    /// ``LineProtocol/PumpTemperatures`` have.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: FieldKey.self)
        try container.encode(power.rawValue, forKey: "state")
        try container.encodeIfPresent(speedPercent, forKey: "speed_percent")
        try container.encodeIfPresent(skinFaultWhileOn?.rawValue, forKey: "skin_fault")
        try container.encodeIfPresent(runtimeMinutes, forKey: "runtime_min")
        try container.encodeIfPresent(remainingMinutes, forKey: "remaining_min")
        try temperatures.encode(to: encoder, beside: otherFields)
    }
}

extension PumpTemperatures: Encodable {
    /// In JSON, `water_temp_c`, `skin_temp_c` and `temp_c`, those that the pump has, in °C; null for one that is no number, or
    /// that no working thermistor reads, of which `sensor_faults` has the keys. `temperatures_reported` is there, and false,
    /// where the pump names no temperature. `other` has the fields that are not known, or are no number, as they came, the
    /// first where one comes again.
    public func encode(to encoder: any Encoder) throws { try encode(to: encoder, beside: otherFields) }

    /// - Parameter others: The fields of the same line that are not known, or are no number.
    fileprivate func encode(to encoder: any Encoder, beside others: [PumpStatusField]) throws {
        var container = encoder.container(keyedBy: FieldKey.self)
        let known = named.map { (key: Self.key($0.name), reading: $0.reading) }
        for key in others.compactMap(\.temperatureName).map(Self.key) where !known.contains(where: { $0.key == key }) {
            try container.encodeNil(forKey: FieldKey(stringValue: key))
        }
        for (key, reading) in known {
            try container.encode(reading.isPlausible ? reading.celsius : nil, forKey: FieldKey(stringValue: key))
        }
        let faults = known.filter { !$0.reading.isPlausible }.map(\.key)
        if !faults.isEmpty { try container.encode(faults, forKey: "sensor_faults") }
        if !isReported { try container.encode(false, forKey: "temperatures_reported") }
        guard !others.isEmpty else { return }
        try container.encode(Dictionary(others.map { ($0.name, $0.value) }) { first, _ in first }, forKey: "other")
    }

    private static func key(_ name: String) -> String { name == "temp" ? "temp_c" : "\(name)_temp_c" }
}
