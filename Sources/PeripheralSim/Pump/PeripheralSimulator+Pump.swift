internal import FirmwareSim
internal import ModuleDialects

extension PeripheralSimulator {
    /// The pump, behind an HM-10 or one of its clones.
    public static let pump = PeripheralSimulator(.pump) { settings in
        HM10Module(
            PumpFirmware(settings: settings), settings.text("dialect").flatMap(ModuleDialect.named) ?? .hm10,
            name: settings.text("name") ?? "", lineRate: settings.lineRate, notifiesUART: settings.flag("notices"))
    }
}
