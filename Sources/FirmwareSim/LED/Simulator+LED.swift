extension Simulator {
    /// The LED board.
    public static let led = Simulator(
        "led",
        options: [
            .baud(115_200), .unpaced, .radioName("ece196"),
            SimulatorOption("lit", .flag, help: "The LED is lit at the beginning."),
            SimulatorOption("mute", .flag, help: "Do not answer when a value is set; over BLE, do not notify."),
        ],
        make: {
            LEDFirmware(lineRate: $0.lineRate, isLit: $0.flag("lit"), answersSets: !$0.flag("mute"))
        })
}
