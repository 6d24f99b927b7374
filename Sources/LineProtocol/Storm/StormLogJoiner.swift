/// Puts the packets of a log together, and notices where two of them do not fit.
///
/// A packet may end within a row, which goes on in the next one. Where a sensor sends each row in a packet without a line
/// end, rows are kept apart. Where the end of a packet was lost, what is left is not joined to what follows.
package struct StormLogJoiner: Sendable {
    /// The longest beginning of a line that is kept until its end comes.
    static let lineLimit = 1024

    /// The most that a packet brings, as far as the carrier knows; nil where it does not.
    package var packetCapacity: Int?
    /// How many line ends were added between rows that came without one.
    private(set) var addedLineEndCount = 0
    /// How many times something is missing between two packets, or behind the last one.
    package private(set) var gapCount = 0

    package init() {}

    /// The beginning of a line whose end has not come.
    private var held: [UInt8] = []
    /// Whether the packet in which that ends was as long as they get: the rest of it may have been lost.
    private var isFull = false
    /// The bytes that rows are made of, by what came; nil before the first.
    private var alphabet: Set<UInt8>?
    /// Whether what is held goes on a line that was too long to be kept.
    private var isAmidLine = false

    /// Takes in the text of a packet; the bytes of the log that are certain by now.
    ///
    /// - Parameter length: How long the packet was, with its prefix.
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
        // A carrier that was wrong knows nothing.
        if let capacity = packetCapacity, length > capacity { packetCapacity = nil }
        isFull = length == packetCapacity
        return output
    }

    /// The rest of the log, now that nothing follows.
    package mutating func finish() -> [UInt8] {
        defer { (held, isFull) = ([], false) }
        if isFull, !held.isEmpty || isAmidLine { gapCount += 1 }
        return held
    }

    /// Decides what the beginning of a line is to what follows in the next packet; returns it where they are no one line.
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

    private mutating func learn(_ lines: ArraySlice<UInt8>, isContinued: Bool) {
        let whole = lines.split(maxSplits: .max, omittingEmptySubsequences: false, whereSeparator: \.isLineEnd)
        for row in whole.dropFirst(isContinued ? 1 : 0) where StormMeasurement(row: Array(row)) != nil {
            learn(row: row)
        }
    }

    /// Numbers may have any digits.
    private mutating func learn(row: ArraySlice<UInt8>) {
        alphabet = (alphabet ?? Set("0123456789. ".utf8)).union(row)
    }
}
