/// A fault that makes no sense for a device, and why.
public struct SenselessFault: Sendable, Hashable {
    /// The name of the fault.
    public var name: String
    /// What it makes no sense over; nil for any carrier.
    public var carrier: SimulatorOption.Carrier?
    /// Why, as a clause: "an LED board does nothing by itself".
    public var reason: String

    /// - Parameter carrier: nil for any carrier.
    public init(_ name: String, over carrier: SimulatorOption.Carrier? = nil, _ reason: String) {
        self.name = name
        self.carrier = carrier
        self.reason = reason
    }
}
