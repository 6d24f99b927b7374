extension Simulator {
    /// The phone with the rescue app. It starts with at most 1,000,000,000 messages, which is more than a phone holds.
    public static let rescue = Simulator(
        "rescue",
        options: [
            .baud(115_200), .unpaced, .radioName("Rescue"),
            SimulatorOption("seed", .seed, default: "1", help: "The seed of its messages and faults."),
            SimulatorOption(
                "messages", .number(0...1_000_000_000), default: "5",
                help: "The number of its messages; each is sent once."),
            RescueFirmwareOptions.intervalOption, RescueFirmwareOptions.splitOption,
            RescueFirmwareOptions.malformedOption, RescueFirmwareOptions.hoardOption,
            .faults(senseless: [
                SenselessFault("stuck", "a phone has no error state"),
                SenselessFault("twice", "a phone answers nothing"),
            ]),
            SimulatorOption(
                "forwards", .flag, default: "on", help: "Forward received messages, which is the default.",
                excludes: ["hoard"]),
        ],
        make: { RescueFirmware(options: RescueFirmwareOptions(settings: $0)) })
}

extension RescueFirmwareOptions {
    /// The option for the time before each message.
    static let intervalOption = SimulatorOption(
        "interval", .time(or: "0"), default: "1s", help: "The time before each message; 0 sends all at once.")
    /// The option for the most bytes that leave at once.
    static let splitOption = SimulatorOption(
        "split", .number(1...1_000_000), help: "Send at most this many bytes at once.", valueName: "bytes")
    /// The option for the percentage of messages that something malformed precedes.
    static let malformedOption = SimulatorOption(
        "malformed", .number(0...100), default: "0",
        help: "The percentage of messages that follow malformed data.", valueName: "percent")
    /// The option that makes the phone keep received messages instead of forwarding them.
    static let hoardOption = SimulatorOption(
        "hoard", .flag, help: "Keep received messages, and do not forward them.")

    /// Reads the options of ``Simulator/rescue``.
    package init(settings: SimulatorSettings) {
        self.init(
            carrier: .line(settings.lineRate), seed: settings.seed(), messages: settings.number("messages") ?? 5,
            interval: settings.time("interval") ?? .zero, split: settings.number("split"),
            malformed: settings.number("malformed") ?? 0,
            forwards: settings.flag("forwards") && !settings.flag("hoard"))
    }
}
