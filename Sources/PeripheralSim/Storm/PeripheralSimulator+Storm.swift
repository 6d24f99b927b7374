internal import FirmwareSim

extension PeripheralSimulator {
    /// The storm sensor. It sends a piece of its log every ``StormPeripheral/defaultPause``, or, with the option
    /// `unpaced`, as fast as the central takes the pieces.
    public static let storm = PeripheralSimulator(.storm) { settings in
        StormPeripheral(
            options: StormFirmwareOptions(settings: settings), name: settings.text("name") ?? "",
            pause: settings.flag("unpaced") ? .zero : StormPeripheral.defaultPause)
    }
}
