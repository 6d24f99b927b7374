public import BlueZ
public import LineProtocol

/// A step of opening a BLE device.
public enum BLEOpeningStep: Sendable, Hashable {
    /// Scanning for a device that the endpoint may mean.
    case searching
    /// Waiting for another program that has the device for a short time; `holder` is nil if the program is unknown.
    case waiting(BluetoothAddress, holder: LinkHolder?)
    /// Connecting, and discovering the device's services.
    case connecting(BluetoothAddress)
    /// Pairing, if the endpoint asks for pairing.
    case pairing(BluetoothAddress)
    /// Subscribing to the device's notifications.
    case subscribing(BluetoothAddress)
}

extension BLEOpeningStep: CustomStringConvertible {
    /// The step for people, such as `connecting to 00:15:83:00:00:10`.
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
