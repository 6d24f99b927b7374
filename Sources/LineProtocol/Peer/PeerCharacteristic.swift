/// What a peer offers over BLE: the Nordic UART Service, named from the peer's side. On a serial port there is one line,
/// which carries both.
public enum PeerCharacteristic: String, Sendable, Hashable, CaseIterable {
    /// Takes what the central says, with or without response.
    case receive = "6E400002-B5A3-F393-E0A9-E50E24DCCA9E"
    /// Notifies of what the peer says.
    case transmit = "6E400003-B5A3-F393-E0A9-E50E24DCCA9E"

    /// The service that they are in.
    public static let service = "6E400001-B5A3-F393-E0A9-E50E24DCCA9E"
}
