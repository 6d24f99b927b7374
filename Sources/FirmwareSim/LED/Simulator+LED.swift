extension Simulator {
    /// The LED board.
    public static let led = Simulator(
        "led",
        options: [
            .baud(115_200), .unpaced, .radioName("ece196"),
            SimulatorOption("lit", .flag, help: "Start with the LED lit."),
            .faults(senseless: [
                SenselessFault("drift", "an LED board has no timed behaviour"),
                SenselessFault("split", over: .radio, "a notification of one byte can't be split"),
            ]),
            LEDFirmware.muteOption,
        ],
        make: {
            LEDFirmware(lineRate: $0.lineRate, isLit: $0.flag("lit"), answersSets: !$0.flag("mute"))
        })
}
