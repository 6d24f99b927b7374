/// Something that a fault does to what carries a device's bytes. Whoever offers the device sees to it.
public struct CarrierEvent: Sendable, Hashable {
    /// What is done to the carrier.
    public enum Action: Sendable, Hashable {
        /// The cable is pulled.
        case unplug
        /// The cable is back, under another name where ports have one.
        case plugIn
        /// The radio link to each central is dropped.
        case hangUp
        /// This is notified before the central is told that it has subscribed.
        case notifyEarly([UInt8], output: UInt128?)
    }

    /// What is done to the carrier.
    public var action: Action
    /// When, in simulated time.
    public var time: Duration
}
