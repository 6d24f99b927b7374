public import BlueZ
public import LineProtocol

/// What opening a BLE device is at.
public enum BLEOpeningStep: Sendable, Hashable {
    /// It listens for a device that the endpoint may mean.
    case searching
    /// Another program has the device for one command; nil where that program can't be named.
    case waiting(BluetoothAddress, holder: LinkHolder?)
    /// It connects, and asks for the device's services.
    case connecting(BluetoothAddress)
    /// It pairs, where that was asked for.
    case pairing(BluetoothAddress)
    /// It subscribes to what the device says.
    case subscribing(BluetoothAddress)
}

extension BLEOpeningStep: CustomStringConvertible {
    /// For people, as in `connecting to 00:15:83:00:00:10`.
    public var description: String {
        switch self {
        case .searching: "searching"
        case .waiting(let address, let holder):
            "waiting for \(holder.map { "\($0)" } ?? "another program"), which has \(address)"
        case .connecting(let address): "connecting to \(address)"
        case .pairing(let address): "pairing with \(address)"
        case .subscribing(let address): "subscribing to \(address)"
        }
    }
}
