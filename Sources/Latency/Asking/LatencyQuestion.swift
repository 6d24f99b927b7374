internal import LineProtocol

/// A query that changes nothing at a device, and the tests that recognize its answer.
///
/// There is one for each family that can be measured. A peer and a rescue phone have none: a peer need not answer, and
/// a phone never does.
public struct LatencyQuestion: Sendable {
    /// The family's name, such as `pump`.
    public let family: String
    /// The text of the query, without its line end.
    public let text: String
    /// The number of queries that take about 10 s.
    public let usualCount: Int
    /// The silence that must precede the next query: a pump blinks for 50 ms after each command, and reads nothing in
    /// that time; the end of a storm sensor's log shows only by a silence.
    public let settlingTime: Duration
    /// Whether a BLE module passes the bytes on over a serial line of its own.
    public let hasModuleLine: Bool
    /// Bytes that make the device refuse a half-sent line, and end it.
    let spoiler: [UInt8]
    /// Whether a line or packet is the answer.
    let isReply: @Sendable (String) -> Bool
    /// Whether a line belongs to the answer, but comes before the line that ``isReply`` accepts.
    let belongsToReply: @Sendable (String) -> Bool

    /// The queries of all families that have one.
    public static let all: [LatencyQuestion] = [.pump, .storm, .led]

    /// Returns the query of a family; nil if it has none.
    public static func named(_ family: String) -> LatencyQuestion? { all.first { $0.family == family } }

    /// Returns a query for a device of an unknown family. Any line counts as its answer.
    public static func raw(_ text: String) -> LatencyQuestion {
        LatencyQuestion(
            family: "raw", text: text, usualCount: 50, settlingTime: .milliseconds(60), hasModuleLine: false,
            spoiler: [],
            isReply: { !$0.isEmpty }, belongsToReply: { _ in false })
    }

    /// TEMP, whose reply is never unsolicited, unlike the STATUS lines of a running pump.
    public static let pump = LatencyQuestion(
        family: "pump", text: "TEMP", usualCount: 36, settlingTime: .milliseconds(60), hasModuleLine: true,
        spoiler: PumpFamily.lineSpoiler, isReply: { $0.hasPrefix("TEMP:") }, belongsToReply: { _ in false })

    /// GET_LOG. The answer is measured up to the end of its first line. Some sensors echo the query first.
    public static let storm = LatencyQuestion(
        family: "storm", text: "GET_LOG", usualCount: 20, settlingTime: .milliseconds(300), hasModuleLine: false,
        spoiler: [], isReply: { $0.hasPrefix("LOG Values: ") }, belongsToReply: { $0 == "GET_LOG" })

    /// LED, which queries the state of the light.
    public static let led = LatencyQuestion(
        family: "led", text: "LED", usualCount: 50, settlingTime: .milliseconds(40), hasModuleLine: false,
        spoiler: [], isReply: { $0 == "LED:0" || $0 == "LED:1" }, belongsToReply: { _ in false })
}
