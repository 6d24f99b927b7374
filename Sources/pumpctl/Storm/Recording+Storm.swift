import DeviceKit
import LineProtocol
import RecordFormat

extension Recording {
    /// Records a live row.
    func record(_ row: LiveRow) {
        guard let measurement = row.measurement else {
            return record(.event(kind: "row", text: row.bytes.printable()), at: row.time.recordTime)
        }
        var reading = Reading()
        reading.add("pipe", measurement.pipe)
        reading.add("port", measurement.port)
        reading.add("point", measurement.point)
        reading.add("value", measurement.value)
        record(.reading(kind: "live", reading), at: row.time.recordTime)
    }
}
