internal import BlueZ

/// How a person pairs with a device that wants it.
struct PairingAdvice: Sendable {
    let address: BluetoothAddress
    /// Whether the endpoint has asked to pair already.
    let wasAskedFor: Bool

    /// What to do where the device has said so.
    var text: String {
        (wasAskedFor
            ? "confirm the pairing at the device: run bluetoothctl pair \(address)"
            : "pair with it: ?pair after the endpoint, or bluetoothctl pair \(address)")
            // A board whose firmware is written anew has forgotten it.
            + "; if it was paired before, first: bluetoothctl remove \(address)"
    }

    /// What to do where it may be so.
    var possibility: String {
        "if it wants to be paired, add ?pair to the endpoint, or run bluetoothctl pair \(address)"
    }
}
