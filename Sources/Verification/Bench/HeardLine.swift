/// A line that a device said.
struct HeardLine: Sendable {
    /// Without its end.
    var bytes: [UInt8]
    /// Whether it ended with `\r\n`, and not with a bare `\n`.
    var endsWithReturn: Bool
    /// When its first byte came.
    var begin: Duration
    /// When its end came.
    var end: Duration

    var text: String { String(decoding: bytes, as: UTF8.self) }
}

/// Cuts what comes over a link into lines. Empty lines are none.
struct HeardLines {
    private var bytes: [UInt8] = []
    private var begin = Duration.zero
    private var lines: [HeardLine] = []

    mutating func append(_ arrived: [UInt8], at now: Duration) {
        for byte in arrived {
            if byte == UInt8(ascii: "\n") {
                finish(at: now)
            } else {
                if bytes.isEmpty { begin = now }
                bytes.append(byte)
            }
        }
    }

    private mutating func finish(at now: Duration) {
        let endsWithReturn = bytes.last == UInt8(ascii: "\r")
        if endsWithReturn { bytes.removeLast() }
        if !bytes.isEmpty {
            lines.append(HeardLine(bytes: bytes, endsWithReturn: endsWithReturn, begin: begin, end: now))
        }
        bytes = []
    }

    mutating func next() -> HeardLine? { lines.isEmpty ? nil : lines.removeFirst() }

    /// Takes what has come of a line that has not ended.
    mutating func takeFragment() -> [UInt8] {
        defer { bytes = [] }
        return bytes
    }
}
