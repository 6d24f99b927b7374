/// The option and the verb that the board has both on a line and over BLE.
extension LEDFirmware {
    /// The option that keeps the board from answering sets, or, over BLE, from notifying of changes.
    package static let muteOption = SimulatorOption(
        "mute", .flag, help: "Do not answer when a value is set; over BLE, do not notify.")

    /// Returns the verb that switches the LED at the board.
    package static func lightVerb<Board>(
        _ set: @escaping @Sendable (inout Board, _ isLit: Bool, _ now: Duration) -> Void
    ) -> DeviceVerb<Board> {
        DeviceVerb(
            "light", [SimulatorOption("state", .flag, help: "The LED's state.")], help: "Switch the LED at the board."
        ) { board, values, now in
            set(&board, values.flag("state"), now)
        }
    }
}
