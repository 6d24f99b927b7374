import DeviceKit
import RecordFormat

extension ResultRecord {
    /// An update of a monitor: every key is always there, and null where nothing is known.
    init(_ update: FamilyUpdate) {
        self.init(
            ok: nil,
            [
                "time": .text(update.time.iso8601), "link": .text(update.isLinkUp ? "up" : "lost"),
                "event": .text(update.name),
            ])
        add("text", orNull: update.text.map { .text($0) })
        for field in update.family.state {
            let value = update.values[field.key] ?? field.unknownWord.map { .text($0) }
            add(field.key, orNull: value.flatMap { field.isPlausible($0) ? $0 : nil })
        }
        if update.family.state.contains(where: \.isMeasured) { add("sensor_faults", words: update.sensorFaults) }
    }
}
