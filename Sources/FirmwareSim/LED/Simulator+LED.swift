extension Simulator {
    /// The LED board.
    public static let led = Simulator(
        "led",
        options: [
            .baud(115_200), .unpaced, .radioName("ece196"),
            SimulatorOption("lit", .flag, help: "The LED is lit at the beginning."),
            SimulatorOption("mute", .flag, help: "Take a value without a word; over BLE, without a notification."),
        ],
        make: {
            LEDFirmware(lineRate: $0.lineRate, isLit: $0.flag("lit"), answersSets: !$0.flag("mute"))
        })
}
