public import Transports

/// The medium between this computer and a device. Advice on failures depends on it.
public enum Carrier: Sendable, Hashable {
    /// A serial port.
    case cable
    /// Bluetooth.
    case radio
    /// A server, which is connected to the device.
    case network
    /// None: the device is simulated inside the program.
    case simulation
    /// A captured file.
    case capture
}

extension Endpoint {
    /// The medium of the link to the device; a cable if the scheme does not determine it.
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
