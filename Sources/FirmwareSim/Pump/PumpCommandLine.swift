/// Collects received bytes into one command at a time.
struct PumpCommandLine: Sendable {
    /// The longest command in bytes. The pump protocol: more bytes without a terminator are `CMD_TOO_LONG`.
    static let capacity = 63

    enum Input: Sendable, Hashable {
        /// A line without its end; never empty.
        case line([UInt8])
        /// The line outgrew the buffer.
        case tooLong
    }

    private var buffer: [UInt8] = []
    /// The input that is ready to be handled; nil if there is none. No byte may be appended until the input is taken.
    private(set) var waiting: Input?

    /// Whether the beginning of a line has arrived.
    var hasBegun: Bool { !buffer.isEmpty }

    static func isLineEnd(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") }

    mutating func append(_ byte: UInt8) {
        if Self.isLineEnd(byte) {
            guard !buffer.isEmpty else { return }
            waiting = .line(buffer)
            buffer.removeAll(keepingCapacity: true)
        } else if buffer.count < Self.capacity {
            buffer.append(byte)
        } else {
            waiting = .tooLong
            buffer.removeAll(keepingCapacity: true)
        }
    }

    mutating func takeWaiting() -> Input? {
        defer { waiting = nil }
        return waiting
    }
}
