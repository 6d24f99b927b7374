import LineProtocol

/// A live row on its way to the screen and to the record: read once, with when it came.
struct LiveRow {
    /// As the sensor wrote it.
    let bytes: [UInt8]
    let time: WallTime
    /// What it says; nil where it is no measurement.
    let measurement: StormMeasurement?

    init(_ bytes: [UInt8], at time: WallTime) {
        self.bytes = bytes
        self.time = time
        measurement = StormMeasurement(row: bytes)
    }
}
