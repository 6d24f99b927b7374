/// How a line ended.
public enum LineEnding: Sendable, Hashable {
    /// `\n`, or `\r\n`.
    case lineFeed
    /// `\r` with anything but `\n` behind it, or nothing as yet.
    case carriageReturn
    /// Not at all: the line was longer than the framer's limit, and this is the piece that filled it.
    case cut
}

/// Cuts a stream of bytes into lines, wherever the carrier has cut it before.
///
/// `\n`, `\r` and `\r\n` end a line. Every other byte, NUL and what is not UTF-8 included, belongs to a line: nothing
/// is dropped. A line longer than the limit is handed out in pieces, each marked ``LineEnding/cut``.
///
///     var framer = LineFramer(limit: 1024)
///     framer.append(bytes.span) { line, ending in print(line.count, ending) }
public struct LineFramer: Sendable {
    /// The longest line in bytes, without its end, that is handed out whole.
    public let limit: Int

    /// The beginning of a line whose end has not come.
    private var carry: [UInt8] = []
    /// The last byte was `\r`: a `\n` right behind it belongs to the same line end.
    private var followsCarriageReturn = false

    /// How many bytes came in since the framer was made.
    public private(set) var receivedByteCount = 0
    /// How many of them were line ends. The others were handed out or are pending.
    public private(set) var lineEndByteCount = 0
    /// How many wait for the end of their line.
    public var pendingByteCount: Int { carry.count }
    /// What waits for the end of its line.
    public var pending: [UInt8] { carry }

    /// A framer that cuts lines longer than `limit` bytes; at least 1.
    public init(limit: Int) {
        precondition(limit > 0, "a line holds at least one byte")
        self.limit = limit
    }

    /// Takes in `bytes` and hands out each line that they complete, in order.
    ///
    /// - Parameter body: Gets the bytes of the line, valid during the call, and how it ended. Empty lines are handed
    ///   out too.
    public mutating func append(_ bytes: Span<UInt8>, _ body: (Span<UInt8>, LineEnding) -> Void) {
        receivedByteCount += bytes.count
        var start = 0
        while start < bytes.count {
            let room = limit - carry.count
            // What is left, but no further than the byte behind a full piece: to search a long line to its end for every
            // piece of it would take time by the square of its length.
            let windowEnd = room < bytes.count - start ? start + room + 1 : bytes.count
            let window = bytes.extracting(start..<windowEnd)
            let found = window.withUnsafeBytes { ByteSearch.first(.lineFeed, or: .carriageReturn, in: $0) }
            guard let offset = found else {
                // No end in sight, or only beyond the limit.
                let taken = min(window.count, room)
                keep(window.extracting(0..<taken))
                start += taken
                // What follows is no line end, or it had been found: the line goes on.
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

    /// Whether `byte`, a line end with nothing before it, only completes the end of the line handed out last.
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
    /// The part of a line without the NULs before and behind it: firmware that writes a C string with its end sends one behind
    /// each line end.
    package var rangeWithoutNULs: Range<Int> {
        var range = indices
        while !range.isEmpty, self[range.lowerBound] == 0 { range.removeFirst() }
        while !range.isEmpty, self[range.upperBound - 1] == 0 { range.removeLast() }
        return range
    }
}

extension [UInt8] {
    /// A line without the NULs before and behind it.
    package var withoutNULs: [UInt8] { Array(self[span.rangeWithoutNULs]) }
}

extension UInt8 {
    static let lineFeed: UInt8 = 0x0A
    static let carriageReturn: UInt8 = 0x0D
}
