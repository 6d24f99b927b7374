internal import LineProtocol

/// Converts a log that arrives in packets into the text that a client reads from a stream: complete lines after one
/// prefix.
struct StormLogPackets: Sendable {
    /// The number of bytes of the log's beginning that are kept, to recognize a repeated beginning.
    private static let headLength = 512

    private var joiner = StormLogJoiner()
    private var head: [UInt8] = []
    /// Whether a packet of the log has arrived, so that the client has the prefix.
    private var hasBegun = false
    /// Whether the client has received an incomplete line.
    private var isAmidLine = false
    /// The number of gaps that were reported as ``StreamPiece/broken``.
    private var gapCount = 0

    init(packetCapacity: Int?) { joiner.packetCapacity = packetCapacity }

    /// Adds the text of a packet.
    ///
    /// - Parameter prefix: The log's prefix if the packet has one, otherwise empty. A sensor may begin every packet
    ///   with the prefix, so the prefix alone does not begin the log again. If the text also equals the beginning of
    ///   the log, the sensor has started the log again, and the client gets a second prefix.
    mutating func append(_ text: [UInt8], behind prefix: [UInt8]) -> [StreamPiece] {
        var pieces: [StreamPiece] = []
        if !prefix.isEmpty, hasBegun, beginsAgain(text) {
            pieces = finish()
            (head, hasBegun) = ([], false)
        }
        var bytes = hasBegun ? [] : prefix
        hasBegun = true
        if head.count < Self.headLength { head += text.prefix(Self.headLength - head.count) }
        bytes += joiner.append(text, packetLength: prefix.count + text.count)
        return pieces + hand(bytes) + gaps()
    }

    private func beginsAgain(_ text: [UInt8]) -> Bool {
        let length = min(text.count, head.count)
        return length > 0 && text.prefix(length) == head.prefix(length)
    }

    /// Ends an incomplete line, so that a live row can follow.
    mutating func endLine() -> [StreamPiece] { isAmidLine ? hand([0x0A]) : [] }

    /// Returns the buffered rest of the log when the log has ended.
    mutating func finish() -> [StreamPiece] { hand(joiner.finish()) + endLine() + gaps() }

    private mutating func hand(_ bytes: [UInt8]) -> [StreamPiece] {
        if let last = bytes.last { isAmidLine = last != 0x0A && last != 0x0D }
        return [.forAsker(bytes)]
    }

    private mutating func gaps() -> [StreamPiece] {
        defer { gapCount = joiner.gapCount }
        return joiner.gapCount > gapCount ? [.broken] : []
    }
}
