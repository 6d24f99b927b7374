/// How a device pairs.
public enum PairingMethod: Sendable, Hashable {
    /// Without anybody being asked.
    case justWorks
    /// A person confirms that both show this number.
    case confirmation(UInt32)
    /// A person types in the number that the device shows.
    case entry(UInt32)
    case refused
}
