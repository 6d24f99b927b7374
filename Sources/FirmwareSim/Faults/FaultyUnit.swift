/// A piece of input or output as faults see it: a line, or 64 bytes of a longer line; over BLE, also a notification.
struct FaultyUnit: Sendable {
    /// The most bytes of a unit that is not a notification, so that faults also fall in output without line ends.
    static let capacity = 64

    /// The bytes of the unit so far.
    private(set) var bytes: [UInt8] = []
    /// The bytes delivered so far.
    var delivered: [UInt8] = []
    /// Whether the unit is dropped.
    var isLost = false
    /// Whether the unit is delivered again at its end.
    var isRepeated = false
    /// The time between two delivered bytes; nil to keep the timing of the output.
    var spacing: Duration?

    mutating func append(_ byte: UInt8) { bytes.append(byte) }

    /// Returns whether a byte would end a line of output, or a 64-byte piece of one.
    func endsLine(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "\n") || bytes.count + 1 == Self.capacity }

    /// Returns whether a byte would end a command, or a 64-byte piece of one.
    func endsCommand(_ byte: UInt8) -> Bool { Self.isLineEnd(byte) || endsLine(byte) }

    /// Returns whether a byte ends commands.
    static func isLineEnd(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "\r") || byte == UInt8(ascii: "\n") }
}

/// A JSON object that a device is sending, and the bytes that were delivered in its place.
struct FaultyObject: Sendable {
    /// The bytes delivered so far.
    private(set) var delivered: [UInt8] = []
    /// Whether the object is delivered again at its end.
    var isRepeated = false

    private var splitter = JSONObjectSplitter()

    /// Takes in a byte, and the bytes delivered in its place. Returns whether the byte ends an object.
    mutating func append(_ byte: UInt8, arriving: [UInt8]) -> Bool {
        if splitter.isEmpty { delivered = [] }
        delivered += arriving
        return splitter.append(byte) != nil
    }
}
