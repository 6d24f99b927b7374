internal import LineProtocol

extension Family {
    /// The ESP32 sensor that keeps a log, which speaks the storm protocol.
    public static let storm = Family(
        name: "storm", device: "a storm sensor", baudRate: 115_200,
        reasonForNoStop: "a storm sensor only measures",
        commands: [FamilyCommand("log get", sends: "GET_LOG", "Ask for the stored log.", effect: .query)],
        events: [
            FamilyEvent("LOG Values: ", "The stored log, in answer to GET_LOG."),
            FamilyEvent("LIVE LOG: ", "A measurement: pipe, port, point and value."),
        ],
        wire: WireRules(recognizes: { $0.starts(with: "LOG Values: ".utf8) || $0.starts(with: "LIVE LOG: ".utf8) }))
}
