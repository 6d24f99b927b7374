import DeviceKit
import LineProtocol
import RecordFormat

extension Recording {
    /// Records a live row.
    func record(row: [UInt8], at time: WallTime) {
        guard let measurement = StormMeasurement(row: row) else {
            return record(.event(kind: "row", text: row.printable()), at: time.recordTime)
        }
        var reading = Reading()
        reading.add("pipe", measurement.pipe)
        reading.add("port", measurement.port)
        reading.add("point", measurement.point)
        reading.add("value", measurement.value)
        record(.reading(kind: "live", reading), at: time.recordTime)
    }
}
