/// A method of pairing with a device.
public enum PairingMethod: Sendable, Hashable {
    /// Needs no user interaction.
    case justWorks
    /// The user confirms that both sides show this number.
    case confirmation(UInt32)
    /// The user enters the number that the device shows.
    case entry(UInt32)
    case refused
}
