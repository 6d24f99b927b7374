public import Transports

/// What lies between this computer and a device: what a person can do about a failure depends on that.
public enum Carrier: Sendable, Hashable {
    /// A serial port.
    case cable
    /// Bluetooth.
    case radio
    /// A server that has the device.
    case network
    /// Nothing: the device is inside the program.
    case simulation
    /// A file that was captured.
    case capture
}

extension Endpoint {
    /// What carries the link to the device; a cable where the scheme does not tell.
    public var carrier: Carrier {
        switch scheme {
        case "ble": .radio
        case "shared", "tcp", "unix": .network
        case "sim": .simulation
        case "replay": .capture
        default: .cable
        }
    }
}
