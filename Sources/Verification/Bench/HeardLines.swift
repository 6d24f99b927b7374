/// The unit into which received bytes are cut.
enum Framing: Sendable {
    /// A line without the NULs around it. Empty lines are skipped.
    case lines
    /// A packet, including a line end if it has one.
    case packets
    /// A JSON object. The bytes between two objects form units of their own, unchanged: one for each received piece.
    case objects
}

/// Cuts received bytes into lines, packets, or objects. Each is cut at ``lengthLimit`` bytes; the rest is dropped.
struct HeardLines {
    /// The most bytes of a line, packet or object that are kept: a device that never ends one must not exhaust the
    /// memory.
    static let lengthLimit = 64 * 1024

    let framing: Framing
    /// The bytes of the current line, packet or object, and the time at which the first one arrived.
    private var bytes: [UInt8] = []
    private var begin = Duration.zero
    /// Whether there were NULs before or after the text of the current line.
    private var followsNULs = false
    /// The complete lines, packets or objects that ``next()`` has not returned yet.
    private var lines: [HeardLine] = []
    private var object = ObjectEnd()
    /// Whether the rest of an overlong line or object is being dropped.
    private var isDropping = false

    init(_ framing: Framing) { self.framing = framing }

    /// Appends received bytes; exactly one packet if the framing is ``Framing/packets``.
    ///
    /// - Parameter now: The value of ``Bench/now`` at which the bytes arrived.
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

    /// Whether a line has begun and not ended; false while the rest of an overlong line is being dropped.
    var hasBegun: Bool { !bytes.isEmpty }

    mutating func next() -> HeardLine? { lines.isEmpty ? nil : lines.removeFirst() }

    /// Removes and returns the bytes of a line that has not ended.
    mutating func takeFragment() -> [UInt8] {
        object = ObjectEnd()
        (isDropping, followsNULs) = (false, false)
        defer { bytes = [] }
        return bytes
    }
}

/// Finds the brace that ends an object. Braces in strings do not count.
private struct ObjectEnd {
    private var depth = 0
    private var isInString = false
    private var isEscaped = false

    var isInside: Bool { depth > 0 }

    /// Takes the next byte, and returns whether it ends an object.
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
