public import LineProtocol

/// A link to a device over packets, whose device may confirm what it is sent.
public protocol ConfirmingLink: Link {
    /// Whether ``Link/send(_:)`` returns only once the device has confirmed what it was sent.
    var confirmsWrites: Bool { get }
}
