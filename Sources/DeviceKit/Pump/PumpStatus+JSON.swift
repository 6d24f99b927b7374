public import LineProtocol

extension PumpStatus: Encodable {
    /// Encodes an object with the key `state`, and as far as they are known `speed_percent`, `runtime_min` and
    /// `remaining_min`. `skin_fault` is present if the skin temperature of a running pump can't be relied on. The keys
    /// of ``LineProtocol/PumpTemperatures`` are included.
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
    /// Encodes `water_temp_c`, `skin_temp_c` and `temp_c` in °C, as far as the pump reports them. A value that no
    /// working thermistor reads is null, and `sensor_faults` lists its key. A value that is no number is null too. If
    /// no value is a number, `temperatures_reported` is false. `other` contains the fields with an unknown name or an
    /// unreadable value as they were received; of fields with the same name, the first.
    public func encode(to encoder: any Encoder) throws { try encode(to: encoder, beside: otherFields) }

    /// Encodes the temperatures.
    ///
    /// - Parameter others: The fields of the same line with an unknown name or an unreadable value.
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
