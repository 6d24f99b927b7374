/// An action of a device, or of a fault, on the carrier of the device's bytes. The server that offers the device
/// performs the action.
public struct CarrierEvent: Sendable, Hashable {
    /// The kinds of action on a carrier.
    public enum Action: Sendable, Hashable {
        /// The cable is pulled.
        case unplug
        /// The cable is plugged in again. A pseudo-terminal then has another name.
        case plugIn
        /// The radio link to each central is dropped.
        case hangUp
        /// The bytes are notified before a central's subscription is confirmed, by the characteristic `output`: the 128
        /// bits of its UUID. Without one, the event has no effect.
        case notifyEarly([UInt8], output: UInt128?)
    }

    /// The action.
    public var action: Action
    /// The instant of the action, in simulated time.
    public var time: Duration

    /// Creates an event with the given action and time.
    public init(action: Action, time: Duration) {
        self.action = action
        self.time = time
    }
}
