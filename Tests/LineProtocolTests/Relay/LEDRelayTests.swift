import Testing

@testable import LineProtocol

@Suite("Relaying lines to an LED board")
struct LEDRelayTests {
    @Test(
        "A relayed line has the effect that it has on the board",
        arguments: [
            ("LED", CommandEffect.query, true), ("LED:1", .change, true), ("LED:2", .change, false),
            ("led", .change, false),
        ])
    func request(line: String, effect: CommandEffect, isAnswered: Bool) throws {
        let request = try #require(LEDFamily.request(by: Array(line.utf8)))
        #expect(request.effect == effect)
        #expect(request.isAnswered == isAnswered)
    }

    @Test("A relayed write is answered by its own value")
    func answer() throws {
        var exchange = try #require(LEDFamily.request(by: Array("LED:1".utf8))).exchange
        guard case .unrelated = exchange.take(.value(.led, .boolean(false))) else {
            Issue.record("another value is no answer")
            return
        }
        guard case .complete = exchange.take(.value(.led, .boolean(true))) else {
            Issue.record("the value is the answer")
            return
        }
    }
}
