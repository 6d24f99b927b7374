/// The way in which a line ended.
public enum LineEnding: Sendable, Hashable {
    /// `\n`, or `\r\n`.
    case lineFeed
    /// `\r`, followed by another byte than `\n`, or by no byte yet.
    case carriageReturn
    /// No end: the line is longer than the framer's limit, and this piece has the length of the limit. The rest of the
    /// line follows.
    case cut
}

/// Cuts a stream of bytes into lines, regardless of the chunks in which the carrier delivers it.
///
/// `\n`, `\r` and `\r\n` end a line. Every other byte, including NUL and bytes that are not UTF-8, belongs to a line
/// and is delivered. A line longer than the limit is delivered in pieces, each but the last marked ``LineEnding/cut``.
///
///     var framer = LineFramer(limit: 1024)
///     framer.append(bytes.span) { line, ending in print(line.count, ending) }
public struct LineFramer: Sendable {
    /// The longest line in bytes, without its end, that is delivered in one piece.
    public let limit: Int

    /// The start of a line that has not ended.
    private var carry: [UInt8] = []
    /// Whether the last byte was `\r`. A `\n` directly after it belongs to the same line end.
    private var followsCarriageReturn = false

    /// The number of bytes that the framer has received.
    public private(set) var receivedByteCount = 0
    /// The number of received bytes that were line ends. The other bytes were delivered, or are pending.
    public private(set) var lineEndByteCount = 0
    /// The number of bytes of the line that has not ended.
    public var pendingByteCount: Int { carry.count }
    /// The bytes of the line that has not ended.
    public var pending: [UInt8] { carry }

    /// Creates a framer that cuts lines longer than `limit` bytes. `limit` must be at least 1.
    public init(limit: Int) {
        precondition(limit > 0, "a line holds at least one byte")
        self.limit = limit
    }

    /// Takes `bytes`, and delivers each line that they complete, in order.
    ///
    /// - Parameters:
    ///   - bytes: The next bytes of the input, cut anywhere.
    ///   - body: Receives the bytes of a line, which are valid during the call only, and the way in which the line
    ///     ended. Empty lines are also delivered.
    public mutating func append(_ bytes: Span<UInt8>, _ body: (Span<UInt8>, LineEnding) -> Void) {
        receivedByteCount += bytes.count
        var start = 0
        while start < bytes.count {
            let room = limit - carry.count
            // Search no further than the byte after a full piece. A search to the end of a long line for each piece
            // would take quadratic time.
            let windowEnd = room < bytes.count - start ? start + room + 1 : bytes.count
            let window = bytes.extracting(start..<windowEnd)
            let found = window.withUnsafeBytes { ByteSearch.first(.lineFeed, or: .carriageReturn, in: $0) }
            guard let offset = found else {
                // There is no line end within the limit.
                let taken = min(window.count, room)
                keep(window.extracting(0..<taken))
                start += taken
                // The window includes the byte after a full piece, which is no line end, so the line goes on.
                if start < bytes.count { cut(body) }
                continue
            }
            if offset == 0, endsEarlierLine(bytes[start]) {
                start += 1
                continue
            }
            let end = start + offset
            var next = end + 1
            var ending = LineEnding.lineFeed
            if bytes[end] == .carriageReturn {
                if next < bytes.count && bytes[next] == .lineFeed { next += 1 } else { ending = .carriageReturn }
            }
            if carry.isEmpty {
                body(window.extracting(0..<offset), ending)
            } else {
                keep(window.extracting(0..<offset))
                body(carry.span, ending)
                carry.removeAll(keepingCapacity: true)
            }
            lineEndByteCount += next - end
            followsCarriageReturn = ending == .carriageReturn
            start = next
        }
    }

    /// Whether `byte`, a line end with nothing before it, only completes the end of the last line.
    private mutating func endsEarlierLine(_ byte: UInt8) -> Bool {
        guard carry.isEmpty, followsCarriageReturn, byte == .lineFeed else { return false }
        followsCarriageReturn = false
        lineEndByteCount += 1
        return true
    }

    private mutating func keep(_ bytes: Span<UInt8>) {
        guard !bytes.isEmpty else { return }
        bytes.withUnsafeBufferPointer { carry.append(contentsOf: $0) }
        followsCarriageReturn = false
    }

    private mutating func cut(_ body: (Span<UInt8>, LineEnding) -> Void) {
        body(carry.span, .cut)
        carry.removeAll(keepingCapacity: true)
    }
}

extension Span<UInt8> {
    /// The range of a line without the NULs before and after it. Firmware that sends C strings with their terminators
    /// sends a NUL after each line end.
    package var rangeWithoutNULs: Range<Int> {
        var range = indices
        while !range.isEmpty, self[range.lowerBound] == 0 { range.removeFirst() }
        while !range.isEmpty, self[range.upperBound - 1] == 0 { range.removeLast() }
        return range
    }
}

extension [UInt8] {
    /// The line without the NULs before and after it.
    package var withoutNULs: [UInt8] { Array(self[span.rangeWithoutNULs]) }
}

extension UInt8 {
    static let lineFeed: UInt8 = 0x0A
    static let carriageReturn: UInt8 = 0x0D
}
