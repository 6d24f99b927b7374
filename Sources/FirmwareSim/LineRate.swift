/// How fast bytes travel on a serial line, each way.
public enum LineRate: Sendable, Hashable {
    /// Bits a second, with ten bits to a byte (8N1: start, eight data, stop). Less than 1 is read as 1.
    case baud(Int)
    /// Bytes arrive and leave in no time.
    case unlimited

    /// How long one byte occupies the line.
    public var timePerByte: Duration {
        switch self {
        case .baud(let bitsPerSecond): .seconds(10) / max(1, bitsPerSecond)
        case .unlimited: .zero
        }
    }
}
