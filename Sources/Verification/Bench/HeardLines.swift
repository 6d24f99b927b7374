/// What one thing is that a device says.
enum Framing: Sendable {
    /// A line, without NULs around it. Empty lines are none.
    case lines
    /// A packet, with a line end where it has one.
    case packets
    /// A JSON object. What stands between two of them comes apart, as it is.
    case objects
}

/// Cuts what comes over a link. Of a line or an object that is longer than ``lengthLimit`` the beginning is kept.
struct HeardLines {
    /// The most bytes that are kept of a line or an object: a device that never ends one must not fill the memory.
    static let lengthLimit = 64 * 1024

    let framing: Framing
    private var bytes: [UInt8] = []
    private var begin = Duration.zero
    /// Whether NULs came before the line that has begun, or before the next one.
    private var followsNULs = false
    private var lines: [HeardLine] = []
    private var object = ObjectEnd()
    /// Whether the rest of what was too long is still to come.
    private var isDropping = false

    init(_ framing: Framing) { self.framing = framing }

    /// Takes in what has come; a whole packet where packets are cut.
    mutating func append(_ arrived: [UInt8], at now: Duration) {
        if bytes.isEmpty { begin = now }
        switch framing {
        case .packets:
            bytes = Array(arrived.prefix(Self.lengthLimit))
            finish(at: now)
        case .lines:
            for byte in arrived {
                if byte == UInt8(ascii: "\n") {
                    finishLine(at: now)
                } else if byte == 0, bytes.isEmpty {
                    followsNULs = true
                } else {
                    append(byte, at: now)
                }
            }
        case .objects:
            for byte in arrived {
                if byte == UInt8(ascii: "{"), !object.isInside { finish(at: now) }
                append(byte, at: now)
                if object.append(byte) { finish(at: now) }
            }
            if !object.isInside { finish(at: now) }
        }
    }

    private mutating func append(_ byte: UInt8, at now: Duration) {
        if isDropping { return }
        if bytes.isEmpty { begin = now }
        bytes.append(byte)
        guard bytes.count == Self.lengthLimit else { return }
        finish(at: now)
        isDropping = true
    }

    private mutating func finishLine(at now: Duration) {
        let endsWithReturn = bytes.last == UInt8(ascii: "\r")
        if endsWithReturn { bytes.removeLast() }
        while bytes.last == 0 {
            bytes.removeLast()
            followsNULs = true
        }
        finish(at: now, endsWithReturn: endsWithReturn)
    }

    private mutating func finish(at now: Duration, endsWithReturn: Bool = false) {
        if !bytes.isEmpty {
            lines.append(
                HeardLine(
                    bytes: bytes, endsWithReturn: endsWithReturn, hasNULs: followsNULs, begin: begin, end: now))
        }
        bytes = []
        (isDropping, followsNULs) = (false, false)
    }

    /// Whether the end of a line has not come.
    var hasBegun: Bool { !bytes.isEmpty }

    mutating func next() -> HeardLine? { lines.isEmpty ? nil : lines.removeFirst() }

    /// Takes what has come of a line that has not ended.
    mutating func takeFragment() -> [UInt8] {
        object = ObjectEnd()
        isDropping = false
        defer { bytes = [] }
        return bytes
    }
}

/// Finds the brace that ends an object, and heeds strings.
private struct ObjectEnd {
    private var depth = 0
    private var isInString = false
    private var isEscaped = false

    var isInside: Bool { depth > 0 }

    /// Whether this byte ends an object.
    mutating func append(_ byte: UInt8) -> Bool {
        if isEscaped {
            isEscaped = false
        } else if isInString {
            if byte == UInt8(ascii: "\\") { isEscaped = true } else if byte == UInt8(ascii: "\"") { isInString = false }
        } else if byte == UInt8(ascii: "{") {
            depth += 1
        } else if depth > 0 {
            if byte == UInt8(ascii: "\"") { isInString = true }
            if byte == UInt8(ascii: "}") {
                depth -= 1
                return depth == 0
            }
        }
        return false
    }
}
