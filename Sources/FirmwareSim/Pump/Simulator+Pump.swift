extension Simulator {
    /// The pump.
    public static let pump = Simulator(
        "pump",
        options: [
            .baud(9600, only: nil), .unpaced, .radioName("HMSoft"),
            SimulatorOption(
                "thermistors", .number(0...2), default: "2", help: "The number of thermistors: 0, 1 or 2."),
            PumpFirmware.knobOption,
            SimulatorOption(
                "banner", .choice(PumpFirmwareOptions.BootBanner.allCases.map(\.rawValue)), default: "off",
                help: "The boot message."),
            SimulatorOption(
                "line-end", .choice(["crlf", "lf"]), default: "crlf",
                help: "The line end of the output; 'lf' in older firmware."),
            SimulatorOption(
                "idle-times", .flag,
                help: "Report speed and times also while the pump is off, as some firmware in the field does."),
            SimulatorOption("debug-lines", .flag, help: "Print the free text of debug builds."),
            SimulatorOption("interrupts", .flag, help: "Send unsolicited lines between the two lines of a reply."),
            // Faults of a line make sense over BLE as well: a line connects the pump to its HM-10.
            .dialect(default: "hm-10", only: .radio), .notices(only: .radio), .faults(anywhere: true),
        ],
        make: PumpFirmware.init(settings:))
}

extension PumpFirmware {
    /// The option for the position of the speed knob.
    static let knobOption = SimulatorOption(
        "knob", .number(0...1023), default: "512",
        help: "The position of the speed knob, 0 to 1023; 716 is the speed that ON starts at.",
        valueName: "reading")

    /// Creates a pump with the options of ``Simulator/pump``. A pump with a banner begins with a reset at instant zero,
    /// after which it prints the banner.
    package init(settings: SimulatorSettings) {
        let banner = settings.text("banner").flatMap(PumpFirmwareOptions.BootBanner.init) ?? .off
        self.init(
            options: PumpFirmwareOptions(
                lineRate: settings.lineRate,
                thermistors: settings.number("thermistors").flatMap(PumpFirmwareOptions.Thermistors.init) ?? .two,
                bootBanner: banner, lineEnding: settings.text("line-end") == "lf" ? .lineFeed : .carriageReturnLineFeed,
                reportsTimesWhenStopped: settings.flag("idle-times"), printsDebugLines: settings.flag("debug-lines"),
                interruptsReplies: settings.flag("interrupts"), potentiometer: settings.number("knob") ?? 512))
        if banner != .off { reset(at: .zero) }
    }
}
