public import LineProtocol

/// A link that sends packets, each of which the device may confirm.
public protocol ConfirmingLink: Link {
    /// Whether `Link.send(_:)` returns only after the device has confirmed the write.
    var confirmsWrites: Bool { get }
}
