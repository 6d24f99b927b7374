internal import BlueZ

/// Advice for people on pairing with a device.
struct PairingAdvice: Sendable {
    let address: BluetoothAddress
    /// Whether the endpoint already asks for pairing.
    let wasAskedFor: Bool

    /// The advice for a device that has demanded pairing.
    var text: String {
        (wasAskedFor
            ? "confirm the pairing at the device: run bluetoothctl pair \(address)"
            : "pair with the device: add ?pair to the endpoint, or run bluetoothctl pair \(address)")
            // A board forgets its pairing when its firmware is flashed.
            + "; if it was paired before, first: bluetoothctl remove \(address)"
    }

    /// The advice for a device that may require pairing.
    var possibility: String {
        "if the device requires pairing, add ?pair to the endpoint, or run bluetoothctl pair \(address)"
    }
}
