internal import FirmwareSim

extension PeripheralSimulator {
    /// The text and image peer, on the Nordic UART Service.
    public static let peer = PeripheralSimulator(.peer) { settings in
        PeerPeripheral(try PeerFirmwareOptions(settings: settings))
    }
}
