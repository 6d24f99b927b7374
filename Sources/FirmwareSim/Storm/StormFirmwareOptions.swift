/// Which storm sensor to be.
public struct StormFirmwareOptions: Sendable, Hashable {
    /// The UART's line rate. The storm protocol: 115200 8N1.
    public var lineRate: LineRate
    /// What the measurements depend on.
    public var seed: UInt64
    /// How many rows are stored at the beginning.
    public var rows: Int
    /// The time between two measurements; nil for none.
    public var interval: Duration?
    /// Whether `GET_LOG` is echoed.
    public var echoesCommand: Bool

    /// A sensor with 100 rows that measures nothing more, at 115200 baud, unless told otherwise.
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
