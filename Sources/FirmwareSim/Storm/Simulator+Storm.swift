extension Simulator {
    /// The storm sensor. It starts with at most 1,000,000,000 rows, which is more than any flash holds.
    public static let storm = Simulator(
        "storm",
        options: [
            .baud(115_200), .unpaced, .radioName("storm"),
            SimulatorOption("seed", .seed, default: "1", help: "The seed of the measurements."),
            SimulatorOption(
                "rows", .number(0...1_000_000_000), default: "100", help: "The number of rows stored at the start."),
            StormFirmwareOptions.intervalOption, StormFirmwareOptions.echoOption,
            .faults(senseless: [SenselessFault("stuck", "a storm sensor has no error state")]),
        ],
        make: { StormFirmware(options: StormFirmwareOptions(settings: $0)) })
}

extension StormFirmwareOptions {
    /// The option for the time between two measurements.
    static let intervalOption = SimulatorOption(
        "interval", .time(or: "off"), default: "1s", help: "The time between two measurements; 'off' for none.")
    /// The option that makes the sensor echo `GET_LOG`.
    static let echoOption = SimulatorOption(
        "echo", .flag, help: "Echo the command that requests the log.")

    /// Reads the options of ``Simulator/storm``.
    package init(settings: SimulatorSettings) {
        self.init(
            lineRate: settings.lineRate, seed: settings.seed(), rows: settings.number("rows") ?? 100,
            interval: settings.time("interval"), echoesCommand: settings.flag("echo"))
    }
}
