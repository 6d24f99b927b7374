extension Simulator {
    /// The LED board.
    public static let led = Simulator(
        "led",
        options: [
            .baud(115_200), .unpaced, .radioName("ece196"),
            SimulatorOption("lit", .flag, help: "The LED is lit at the beginning."),
            .faults(senseless: [
                SenselessFault("drift", "an LED board does nothing that takes time"),
                SenselessFault("split", over: .radio, "a notification of one byte has no two pieces"),
            ]),
            SimulatorOption("mute", .flag, help: "Do not answer when a value is set; over BLE, do not notify."),
        ],
        make: {
            LEDFirmware(lineRate: $0.lineRate, isLit: $0.flag("lit"), answersSets: !$0.flag("mute"))
        })
}
