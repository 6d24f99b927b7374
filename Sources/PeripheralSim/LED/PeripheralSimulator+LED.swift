internal import FirmwareSim

extension PeripheralSimulator {
    /// The LED board.
    public static let led = PeripheralSimulator(.led) { settings in
        LEDPeripheral(
            name: settings.text("name") ?? "", isLit: settings.flag("lit"), notifies: !settings.flag("mute"))
    }
}
