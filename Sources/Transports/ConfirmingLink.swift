public import LineProtocol

/// A packet link whose device may confirm each write.
public protocol ConfirmingLink: Link {
    /// Whether ``Link/send(_:)`` returns only after the device has confirmed the write.
    var confirmsWrites: Bool { get }
}
