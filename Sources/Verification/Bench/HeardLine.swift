/// A line, a packet, or a JSON object from the device: see ``Framing``.
struct HeardLine: Sendable {
    /// The bytes of a line without its end, of a whole packet, or of an object.
    var bytes: [UInt8]
    /// Whether the line ended with `\r\n` rather than a bare `\n`.
    var endsWithReturn: Bool
    /// Whether there were NULs before or after the line. ``bytes`` does not contain these NULs.
    var hasNULs = false
    /// The value of ``Bench/now`` when the first byte arrived.
    var begin: Duration
    /// The value of ``Bench/now`` when the end arrived.
    var end: Duration

    var text: String { String(decoding: bytes, as: UTF8.self) }
}
