public import Transports

/// The technology under a link to a device. Advice on failures depends on it.
public enum Carrier: Sendable, Hashable {
    /// A serial port.
    case cable
    /// Bluetooth.
    case radio
    /// A connection to a server that is connected to the device.
    case network
    /// None: the device is simulated inside the program.
    case simulation
    /// None: a capture is replayed.
    case capture
}

extension Endpoint {
    /// The carrier of a link to this endpoint; `cable` if the scheme is unknown.
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
