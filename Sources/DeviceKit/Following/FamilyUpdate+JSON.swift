internal import RecordFormat

extension FamilyUpdate: Encodable {
    /// Encodes an object that always has the keys `time` (ISO 8601, in UTC), `link` (`up`, `lost`), `event` (see
    /// ``name``), `text`, and the keys in the family's ``Family/state``. Families with measured fields have the key
    /// `sensor_faults` too. An unknown value is null, or the field's ``StateField/unknownWord``. The value of a faulty
    /// sensor is null.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: FieldKey.self)
        try container.encode(time.iso8601, forKey: "time")
        try container.encode(isLinkUp ? "up" : "lost", forKey: "link")
        try container.encode(name, forKey: "event")
        try container.encode(text, forKey: "text")
        for field in family.state {
            let value = values[field.key] ?? field.unknownWord.map { .text($0) }
            let believable = value.flatMap { field.isPlausible($0) ? $0 : nil }
            try container.encode(believable, forKey: FieldKey(stringValue: field.key))
        }
        if family.state.contains(where: \.isMeasured) { try container.encode(sensorFaults, forKey: "sensor_faults") }
    }
}
