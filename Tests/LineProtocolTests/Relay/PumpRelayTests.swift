import DeviceTestKit
import TestSupport
import Testing

@testable import LineProtocol

@Suite("Relaying lines to a pump")
struct PumpRelayTests {
    private func request(_ line: String) -> LineRequest<PumpFamily>? { PumpFamily.request(by: Array(line.utf8)) }

    @Test(
        "A relayed line has the effect that the firmware gives it",
        arguments: [
            ("STATUS", CommandEffect.query), ("temp", .query), ("ON", .change), ("on\0junk", .change), ("OFF", .stop),
            ("oFf", .stop), ("SPEED:7", .change), ("FOO", .change), (" OFF", .change), ("", .change),
        ])
    func effect(line: String, effect: CommandEffect) {
        #expect(request(line)?.effect == (line.isEmpty ? nil : effect))
    }

    @Test("OFF at the end of a line that is too long is not a stop")
    func tail() { #expect(request(String(repeating: "X", count: 64) + "OFF")?.effect == .change) }

    /// The verdicts of the exchange for `line` on each of the messages after it: `-` unrelated, `p` partial reply, `c`
    /// complete, `r` refused.
    private func verdicts(_ line: String, _ messages: [String]) -> String {
        guard var exchange = request(line)?.exchange else { return "" }
        return messages.map { message in
            switch exchange.take(PumpMessage(line: Array(message.utf8).span)) {
            case .unrelated: "-"
            case .partial: "p"
            case .complete: "c"
            case .refused: "r"
            }
        }.joined()
    }

    @Test(
        "A relayed line is answered only by its own reply",
        arguments: [
            ("ON", ["MANUAL:ON", "PUMP:ON", "OK", "STATUS:{State:ON}", "PUMP:ON"], "--p-c"),
            ("ON", ["ERROR:SAFETY_SHUTOFF", "ERROR:PUMP_NOT_RUNNING", "ERROR:PUMP_START_FAILED"], "--r"),
            ("SPEED: 65736", ["OK", "SPEED:7", "SPEED:200"], "p-c"),
            ("SPEED:300", ["OK", "ERROR:INVALID_SPEED_VALUE"], "pr"),
            ("STATUS", ["TEMP:34.5", "STATUS:{State:OFF}"], "-c"),
            ("FOO", ["OK", "ERROR:OVERHEAT", "ERROR:UNKNOWN_COMMAND"], "--r"),
            // At the 64th byte of a line, the firmware drops the line so far, and reads the rest as another command.
            (String(repeating: "X", count: 64), ["ERROR:UNKNOWN_COMMAND", "ERROR:CMD_TOO_LONG"], "-c"),
            (
                String(repeating: "X", count: 64) + "ON", ["OK", "ERROR:CMD_TOO_LONG", "OK", "PUMP:ON"], "-ppc"
            ),
            (
                String(repeating: "X", count: 70), ["ERROR:CMD_TOO_LONG", "ERROR:UNKNOWN_COMMAND"], "pr"
            ),
        ])
    func answers(line: String, messages: [String], expected: String) {
        #expect(verdicts(line, messages) == expected)
    }

    @Test("A line that its sender no longer wants is not sent after the wait for a fence", .timeLimit(.minutes(1)))
    func unwanted() async throws {
        let (link, clock) = (ScriptedLink(), ManualClock())
        let session = Session<Relayed<PumpFamily>>(link: link, clock: clock)
        try await session.start()
        func begin(_ line: String, isWanted: @escaping @Sendable () -> Bool) throws -> Task<SessionError?, Never> {
            var command = try #require(RelayedLine<PumpFamily>(Array(line.utf8)))
            command.isWanted = isWanted
            return Task.immediate { [command] in
                do throws(SessionError) { _ = try await session.perform(command) } catch { return error }
                return nil
            }
        }
        // After a command without a reply comes a fence.
        let unanswered = try begin("ON") { true }
        #expect(await link.nextSent(1) == ["\nON\n"])
        clock.advance(by: .seconds(3))
        #expect(await unanswered.value?.code == .noAnswer)
        let isWanted = Watched(true)
        let attempt = try begin("SPEED:7") { isWanted.state }
        #expect(await link.nextSent(1) == ["TEMP\n"])
        isWanted.update { $0 = false }
        await link.deliver("TEMP:34.5\r\n")
        let error = await attempt.value
        #expect(error?.code == .cancelled)
        #expect(error?.outcome == .notSent)
        await session.close()
        #expect(link.unreadSent == [])
    }

    @Test("Unsolicited lines are not answers")
    func unasked() {
        let said = ["STATUS:{State:ON}", "MANUAL:ON", "ERROR:OVERHEAT", "ERROR:SAFETY_SHUTOFF", "[BT] x", "garbage"]
        let answers = ["OK", "PUMP:OFF", "SPEED:9", "TEMP:34.5", "ERROR:UNKNOWN_COMMAND", "ERROR:NEW"]
        #expect(said.allSatisfy { !PumpFamily.isAnswer(PumpMessage(line: Array($0.utf8).span)) })
        #expect(answers.allSatisfy { PumpFamily.isAnswer(PumpMessage(line: Array($0.utf8).span)) })
    }
}
