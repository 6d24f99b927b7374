public import LineProtocol

/// A line of a client, or a message, which is read once: when it comes.
public struct ClientLine: Sendable {
    /// The line, without its end.
    public let bytes: [UInt8]
    /// The effect that it has on the device; nil if the device ignores it.
    public let effect: CommandEffect?
    /// What the family's own speaker needs of it; nil if it sends the bytes as they are.
    let request: (any Sendable)?

    init(_ bytes: [UInt8], _ effect: CommandEffect?, request: (any Sendable)? = nil) {
        self.bytes = bytes
        self.effect = effect
        self.request = request
    }

    /// Whether it makes the device safe, so that it goes before all others.
    var isStop: Bool { effect == .stop }
    /// Whether it may change the device. One that waits while the device is made safe is not sent then.
    var mayChange: Bool { effect == .change }
    /// The line as text.
    var text: String { String(decoding: bytes, as: UTF8.self) }
}
