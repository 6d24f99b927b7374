internal import LineProtocol

extension Family {
    /// The phone that stores and forwards messages, which speaks the rescue protocol.
    public static let rescue = Family(
        name: "rescue", device: "a phone with the rescue app", baudRate: 115_200,
        reasonForNoStop: "a rescue phone only stores and forwards messages",
        commands: [
            FamilyCommand(
                "send", sends: "{message}", "Send a message to the phone, which stores and forwards it.",
                effect: .change, parameters: [.init("message", "one JSON object", .text(maximumByteCount: nil))])
        ],
        events: [FamilyEvent("{\"", "A message: one JSON object.")],
        wire: WireRules(recognizes: { $0.starts(with: "{\"".utf8) }))
}
