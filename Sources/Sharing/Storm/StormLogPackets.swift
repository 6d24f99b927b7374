internal import LineProtocol

/// Turns a log that comes in packets into what a client reads from a stream: whole lines, behind one prefix.
struct StormLogPackets: Sendable {
    /// How many bytes of the log's beginning are kept, to recognize a second beginning.
    private static let headLength = 512

    private var joiner = StormLogJoiner()
    private var head: [UInt8] = []
    private var hasBegun = false
    /// Whether the client has got the beginning of a line without its end.
    private var isAmidLine = false
    private var gapCount = 0

    init(packetCapacity: Int?) { joiner.packetCapacity = packetCapacity }

    /// Takes in the text of a packet.
    ///
    /// - Parameter prefix: The log's prefix if the packet has it, else empty. Every packet may have it. A packet that also
    ///   continues as the first did begins the log again; a second prefix tells the client.
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

    /// Ends the line under way, so that a live row can follow.
    mutating func endLine() -> [StreamPiece] { isAmidLine ? hand([0x0A]) : [] }

    /// What was held back of the log, now that nothing follows.
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
