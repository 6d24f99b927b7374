/// What a device says, or is told, in one piece as faults see it: a line, or 64 bytes of a longer one.
struct FaultyUnit: Sendable {
    /// The most bytes of a unit.
    static let capacity = 64

    /// What of it came.
    private(set) var bytes: [UInt8] = []
    /// What of it was handed on.
    var delivered: [UInt8] = []
    /// Whether nothing of it is handed on.
    var isLost = false
    /// Whether it is handed on again at its end.
    var isRepeated = false
    /// How far apart its bytes are handed on; nil for as they came.
    var spacing: Duration?

    /// Takes in a byte.
    mutating func append(_ byte: UInt8) { bytes.append(byte) }

    /// Whether a byte would be the last of a line that the device says, or of a piece of it.
    func endsLine(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "\n") || bytes.count + 1 == Self.capacity }

    /// Whether a byte would be the last of a command, or of a piece of it.
    func endsCommand(_ byte: UInt8) -> Bool { Self.isLineEnd(byte) || endsLine(byte) }

    /// Whether a byte ends commands.
    static func isLineEnd(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "\r") || byte == UInt8(ascii: "\n") }
}

/// An object that a device sends, and what of it arrives.
struct FaultyObject: Sendable {
    /// What of it was handed on.
    private(set) var delivered: [UInt8] = []
    /// Whether it is handed on again at its end.
    var isRepeated = false

    private var splitter = JSONObjectSplitter()

    /// Takes in a byte, and the bytes that arrive in its place. Returns whether it ends an object.
    mutating func append(_ byte: UInt8, arriving: [UInt8]) -> Bool {
        if splitter.isEmpty { delivered = [] }
        delivered += arriving
        return splitter.append(byte) != nil
    }
}
