internal import FirmwareSim

extension PeripheralSimulator {
    /// The phone with the rescue app.
    public static let rescue = PeripheralSimulator(.rescue) { settings in
        RescuePeripheral(RescueFirmwareOptions(settings: settings), name: settings.text("name") ?? "")
    }
}
