internal import LineProtocol

extension Family {
    /// The ESP32 board with one LED, which speaks the LED protocol.
    public static let led = Family(
        name: "led", device: "an LED board", baudRate: 115_200,
        reasonForNoStop: "an LED board has no emergency stop: {off} switches the light off",
        commands: [
            FamilyCommand("get", sends: "LED", "Read the LED's state.", effect: .query, tellsState: true),
            FamilyCommand("on", sends: "LED:1", "Switch the LED on.", effect: .change),
            FamilyCommand("off", sends: "LED:0", "Switch the LED off.", effect: .change),
        ],
        state: [StateField("led", "LED", .boolean)],
        wire: WireRules(
            recognizes: { line in
                if case .value = LEDMessage(line: line.span) { true } else { false }
            }, follow: FamilyMonitor.follower(of: LEDFamily.self)))
}
