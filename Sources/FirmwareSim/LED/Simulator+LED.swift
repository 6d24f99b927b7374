extension Simulator {
    /// The LED board.
    public static let led = Simulator(
        "led",
        options: [
            .baud(115_200), .unpaced, .radioName("ece196"),
            SimulatorOption("lit", .flag, help: "The LED is lit at the beginning."),
            LEDFirmware.muteOption,
        ],
        make: {
            LEDFirmware(lineRate: $0.lineRate, isLit: $0.flag("lit"), answersSets: !$0.flag("mute"))
        })
}
