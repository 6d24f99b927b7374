internal import FirmwareSim

extension PeripheralSimulator {
    /// The storm sensor. It sends a piece of its log every ``StormPeripheral/defaultPause``, or where it is not paced as fast
    /// as the central takes it.
    public static let storm = PeripheralSimulator(.storm) { settings in
        StormPeripheral(
            options: StormFirmwareOptions(settings: settings), name: settings.text("name") ?? "",
            pause: settings.flag("unpaced") ? .zero : StormPeripheral.defaultPause)
    }
}
