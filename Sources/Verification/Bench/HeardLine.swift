/// A line that a device said, a packet, or an object: see ``Framing``.
struct HeardLine: Sendable {
    /// Of a line without its end; of a packet all of it.
    var bytes: [UInt8]
    /// Whether it ended with `\r\n`, and not with a bare `\n`.
    var endsWithReturn: Bool
    /// Whether there were NULs before or behind it, which are left out.
    var hasNULs = false
    /// When its first byte came.
    var begin: Duration
    /// When its end came.
    var end: Duration

    var text: String { String(decoding: bytes, as: UTF8.self) }
}
