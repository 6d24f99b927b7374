/// Joins the packets of a log to a text, and detects gaps between the packets.
///
/// A packet may end within a row that continues in the next packet. If a sensor sends each row in a packet without a
/// line end, a line end is added between the rows. If the end of a packet was lost, the remaining start of its last row
/// is ended with a line end, and not joined to the next packet.
package struct StormLogJoiner: Sendable {
    /// The longest start of a line, in bytes, that is held back until the line ends: far more than a measurement needs.
    static let lineLimit = 1024

    /// The largest packet in bytes that the carrier can deliver; nil if it is unknown.
    package var packetCapacity: Int?
    /// The number of line ends that were added between rows that came without line ends.
    private(set) var addedLineEndCount = 0
    /// The number of gaps between packets, or after the last one.
    package private(set) var gapCount = 0

    package init() {}

    /// The start of a line that has not ended.
    private var held: [UInt8] = []
    /// Whether the last packet had the largest length, so that its end may have been lost.
    private var isFull = false
    /// The bytes that occur in rows, learnt from the rows so far; nil before the first row. If two joined packets have
    /// only these bytes but are no measurement, bytes between them were lost; with other bytes, they may be text.
    private var alphabet: Set<UInt8>?
    /// Whether the next bytes continue a line that was too long to be held.
    private var isAmidLine = false

    /// Takes the text of a packet, and returns the bytes of the log that are certain now. The start of a line is held
    /// back until the next packet shows whether it continues there.
    ///
    /// - Parameters:
    ///   - text: The text of the packet, without its prefix.
    ///   - length: The length of the packet in bytes, with its prefix.
    package mutating func append(_ text: [UInt8], packetLength length: Int) -> [UInt8] {
        if text.isEmpty { return [] }
        var output: [UInt8] = []
        let head = text.prefix { !$0.isLineEnd }
        if !held.isEmpty, !isAmidLine, !head.isEmpty {
            output = join(head, endsLine: head.count < text.count)
        }
        if let end = text.lastIndex(where: \.isLineEnd) {
            learn(text[...end], isContinued: !held.isEmpty || isAmidLine)
            output += held + text[...end]
            held = Array(text[(end + 1)...])
            isAmidLine = false
        } else {
            held += text
        }
        if held.count > Self.lineLimit || isAmidLine {
            output += held
            held = []
            isAmidLine = true
        }
        // A packet longer than the capacity proves that the carrier reported a wrong capacity.
        if let capacity = packetCapacity, length > capacity { packetCapacity = nil }
        isFull = length == packetCapacity
        return output
    }

    /// Returns the rest of the log. Call this function at the end of input.
    package mutating func finish() -> [UInt8] {
        defer { (held, isFull) = ([], false) }
        if isFull, !held.isEmpty || isAmidLine { gapCount += 1 }
        return held
    }

    /// Decides whether the held start of a line and the text of the next packet are one line. If not, returns the held
    /// start with a line end; otherwise returns nothing.
    private mutating func join(_ head: ArraySlice<UInt8>, endsLine: Bool) -> [UInt8] {
        let joined = held + head
        if StormMeasurement(row: joined) != nil {
            if endsLine { learn(row: joined[...]) }
            return []
        }
        if StormMeasurement(row: held) != nil, StormMeasurement(row: Array(head)) != nil {
            if isFull { gapCount += 1 } else { addedLineEndCount += 1 }
            learn(row: held[...])
        } else if endsLine, let alphabet, alphabet.isSuperset(of: joined) {
            gapCount += 1
        } else {
            return []
        }
        defer { held = [] }
        return held + [.lineFeed]
    }

    /// Adds the bytes of all rows in `lines` to the alphabet, except a first line that continues an earlier packet.
    private mutating func learn(_ lines: ArraySlice<UInt8>, isContinued: Bool) {
        let whole = lines.split(maxSplits: .max, omittingEmptySubsequences: false, whereSeparator: \.isLineEnd)
        for row in whole.dropFirst(isContinued ? 1 : 0) where StormMeasurement(row: Array(row)) != nil {
            learn(row: row)
        }
    }

    /// Adds the bytes of a row to the alphabet. The alphabet always has all digits, the point, and the space.
    private mutating func learn(row: ArraySlice<UInt8>) {
        alphabet = (alphabet ?? Set("0123456789. ".utf8)).union(row)
    }
}
