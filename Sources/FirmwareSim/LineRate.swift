/// The speed of a serial line, in each direction.
public enum LineRate: Sendable, Hashable {
    /// Bits per second, with ten bits to a byte (8N1: start, eight data, stop). A value below 1 counts as 1.
    case baud(Int)
    /// Bytes arrive and leave in no time.
    case unlimited

    /// The time for which one byte occupies the line.
    public var timePerByte: Duration {
        switch self {
        case .baud(let bitsPerSecond): .seconds(10) / max(1, bitsPerSecond)
        case .unlimited: .zero
        }
    }
}
