/// A fault that makes no sense for a device, and the reason.
public struct SenselessFault: Sendable, Hashable {
    /// The name of the fault.
    public var name: String
    /// The carrier on which the fault makes no sense; nil for any carrier.
    public var carrier: SimulatorOption.Carrier?
    /// The reason, as a clause: "an LED board does nothing by itself".
    public var reason: String

    /// Declares that a fault makes no sense.
    ///
    /// - Parameters:
    ///   - name: The name of the fault.
    ///   - carrier: The carrier over which the fault makes no sense; nil for any carrier.
    ///   - reason: The reason, for people.
    public init(_ name: String, over carrier: SimulatorOption.Carrier? = nil, _ reason: String) {
        self.name = name
        self.carrier = carrier
        self.reason = reason
    }
}
