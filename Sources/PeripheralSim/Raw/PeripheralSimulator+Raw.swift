internal import FirmwareSim

extension PeripheralSimulator {
    /// A device of no family, behind an HM-10.
    public static let raw = PeripheralSimulator(.raw) { settings in
        HM10Module(
            try ScriptedFirmware(settings: settings), name: settings.text("name") ?? "", lineRate: settings.lineRate)
    }
}
