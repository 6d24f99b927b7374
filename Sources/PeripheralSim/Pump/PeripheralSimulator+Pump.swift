internal import FirmwareSim

extension PeripheralSimulator {
    /// The pump, behind an HM-10.
    public static let pump = PeripheralSimulator(.pump) { settings in
        HM10Module(
            PumpFirmware(settings: settings), name: settings.text("name") ?? "", lineRate: settings.lineRate)
    }
}
