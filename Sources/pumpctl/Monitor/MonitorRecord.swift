import DeviceKit
import RecordFormat

/// An update as programs are told of it: every key is always there, and null where nothing is known.
struct MonitorRecord: Encodable {
    private let update: FamilyUpdate

    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(_ key: String) { stringValue = key }
        init?(stringValue: String) { self.init(stringValue) }
        init?(intValue: Int) { nil }
    }

    init(_ update: FamilyUpdate) { self.update = update }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(update.time.iso8601, forKey: Key("time"))
        try container.encode(update.isLinkUp ? "up" : "lost", forKey: Key("link"))
        try container.encode(update.name, forKey: Key("event"))
        try container.encode(update.text, forKey: Key("text"))
        for field in update.family.state {
            let value = update.values[field.key] ?? field.unknownWord.map { .text($0) }
            try container.encode(value.flatMap { field.isPlausible($0) ? $0 : nil }, forKey: Key(field.key))
        }
        guard update.family.state.contains(where: \.isMeasured) else { return }
        try container.encode(update.sensorFaults, forKey: Key("sensor_faults"))
    }
}
