public import LineProtocol

/// A line or message of a client, parsed once on arrival.
public struct ClientLine: Sendable {
    /// The line, without its end.
    public let bytes: [UInt8]
    /// The effect on the device; nil if the device ignores the line.
    public let effect: CommandEffect?
    /// The parsed line for a ``LineSpeaker``; nil for a ``StreamSpeaker``, or if the device ignores the line.
    let request: (any Sendable)?

    init(_ bytes: [UInt8], _ effect: CommandEffect?, request: (any Sendable)? = nil) {
        self.bytes = bytes
        self.effect = effect
        self.request = request
    }

    /// Whether the line is a stop line (OFF of a pump), which makes the device safe and goes before all other lines.
    var isStop: Bool { effect == .stop }
    /// Whether the line may change the device. Such a line is not sent if a stop line arrives while it is queued.
    var mayChange: Bool { effect == .change }
    var text: String { String(decoding: bytes, as: UTF8.self) }
}
