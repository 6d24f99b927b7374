/// The options of a simulated storm sensor.
public struct StormFirmwareOptions: Sendable, Hashable {
    /// The UART's line rate. The storm protocol: 115200 8N1.
    public var lineRate: LineRate
    /// The seed of the measurements.
    public var seed: UInt64
    /// The number of rows that are stored at the start.
    public var rows: Int
    /// The time between two periodic measurements; nil for none. The verb `measure` works in any case.
    public var interval: Duration?
    /// Whether the sensor echoes `GET_LOG`.
    public var echoesCommand: Bool

    /// Creates options. By default, the sensor has 115200 baud and 100 stored rows, and does not measure on its own.
    public init(
        lineRate: LineRate = .baud(115_200), seed: UInt64 = 1, rows: Int = 100, interval: Duration? = nil,
        echoesCommand: Bool = false
    ) {
        self.lineRate = lineRate
        self.seed = seed
        self.rows = rows
        self.interval = interval
        self.echoesCommand = echoesCommand
    }
}
