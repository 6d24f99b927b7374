internal import LineProtocol

/// A question that changes nothing at a device, and by what its answer is known.
///
/// Each family that can be measured has a row here. A peer and a rescue phone have none: a peer shows a person whatever it is
/// sent, and a phone answers nothing.
public struct LatencyQuestion: Sendable {
    /// The family's name, as `pump`.
    public let family: String
    /// What is sent, without its line end.
    public let text: String
    /// How many questions take some 10 s.
    public let usualCount: Int
    /// How long the line must have been silent before the next question: a pump that blinks reads nothing meanwhile, and a log
    /// ends by silence.
    public let settlingTime: Duration
    /// Whether, over BLE, a module passes the bytes on over a serial line of its own.
    public let hasModuleLine: Bool
    /// Bytes that make the device refuse a half-sent line, and end it.
    let spoiler: [UInt8]
    /// Whether a line, or a packet, is the answer.
    let isReply: @Sendable (String) -> Bool
    /// Whether a line is part of the answer, before the one that is the answer.
    let belongsToReply: @Sendable (String) -> Bool

    /// Every family that has such a question.
    public static let all: [LatencyQuestion] = [.pump, .storm, .led]

    /// The question of the family of that name; nil where it has none.
    public static func named(_ family: String) -> LatencyQuestion? { all.first { $0.family == family } }

    /// A question of a device of no known family, which any line answers.
    public static func raw(_ text: String) -> LatencyQuestion {
        LatencyQuestion(
            family: "raw", text: text, usualCount: 50, settlingTime: .milliseconds(60), hasModuleLine: false,
            spoiler: [],
            isReply: { !$0.isEmpty }, belongsToReply: { _ in false })
    }

    /// TEMP, whose answer is never unsolicited: a running pump says STATUS by itself.
    public static let pump = LatencyQuestion(
        family: "pump", text: "TEMP", usualCount: 36, settlingTime: .milliseconds(60), hasModuleLine: true,
        spoiler: PumpFamily.lineSpoiler, isReply: { $0.hasPrefix("TEMP:") }, belongsToReply: { _ in false })

    /// GET_LOG: the answer is measured up to the end of its first line. Some sensors echo the question before it.
    public static let storm = LatencyQuestion(
        family: "storm", text: "GET_LOG", usualCount: 20, settlingTime: .milliseconds(300), hasModuleLine: false,
        spoiler: [], isReply: { $0.hasPrefix("LOG Values: ") }, belongsToReply: { $0 == "GET_LOG" })

    /// LED, which asks for the state of the light.
    public static let led = LatencyQuestion(
        family: "led", text: "LED", usualCount: 50, settlingTime: .milliseconds(40), hasModuleLine: false,
        spoiler: [], isReply: { $0 == "LED:0" || $0 == "LED:1" }, belongsToReply: { _ in false })
}
