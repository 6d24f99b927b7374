import LineProtocol

/// A line from a framer, or a piece of a line that is too long, and the way in which it ended.
struct FramedLine: Equatable {
    var bytes: [UInt8]
    var ending: LineEnding

    init(_ bytes: [UInt8], _ ending: LineEnding = .lineFeed) {
        self.bytes = bytes
        self.ending = ending
    }

    init(_ text: String, _ ending: LineEnding = .lineFeed) {
        self.init(Array(text.utf8), ending)
    }
}

extension LineFramer {
    /// Feeds `bytes` to the framer; returns the lines and pieces that they complete.
    mutating func lines(from bytes: [UInt8]) -> [FramedLine] {
        var lines: [FramedLine] = []
        append(bytes.span) { line, ending in
            lines.append(FramedLine(line.withUnsafeBufferPointer { Array($0) }, ending))
        }
        return lines
    }
}
