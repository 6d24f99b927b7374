import DeviceKit
import DeviceTestKit
import LineProtocol
import TestSupport
import Testing

@Suite("Raw lines and their replies", .timeLimit(.minutes(5)))
struct LineExchangeTests {
    private let clock = ManualClock()
    private let link = ScriptedLink()

    /// Sends `SEND`, delivers the pieces of the reply, and lets the quiet time of 1 s pass. Without pieces, lets the
    /// timeout of 3 s pass.
    private func exchange(
        _ pieces: String..., hear: @escaping @Sendable (DeviceLine) -> Void = { _ in }
    ) async throws -> LineExchange.Answer {
        let exchange = LineExchange(with: .pump, over: link, clock: clock)
        var rules = AnswerRules()
        (rules.timeout, rules.quiet) = (.seconds(3), .seconds(1))
        async let answer = exchange.send(Array("SEND".utf8), rules, hear: hear)
        #expect(await link.nextSent() == "SEND\n")
        for piece in pieces { await link.deliver(piece) }
        await clock.untilSomebodySleeps(until: .seconds(pieces.isEmpty ? 3 : 1))
        clock.advance(by: .seconds(pieces.isEmpty ? 3 : 1))
        return try await answer
    }

    @Test("Each line is reported, the first error counts, and a line without end counts too")
    func lines() async throws {
        let heard = Watched<[String]>([])
        let answer = try await exchange("OK\r\nERROR:ONE\r\nERROR:TWO\r\nPUM") { line in
            heard.update { $0.append(line.marked) }
        }
        #expect(heard.state == ["OK", "ERROR:ONE", "ERROR:TWO", "PUM (no line end)"])
        #expect(answer.lineCount == 4)
        #expect(answer.deviceError == "ONE")
    }

    @Test("Input that arrived earlier does not count as a reply")
    func earlier() async throws {
        for piece in ["PUMP:ON\r\nERROR:", "OLD\r\nSTA"] { await link.deliver(piece) }
        let earlier = try await LineExchange(with: .pump, over: link, clock: clock).earlierLines()
        #expect(earlier.map(\.marked) == ["PUMP:ON", "ERROR:OLD", "STA (no line end)"])
        let answer = try await exchange("OK\r\n")
        #expect(answer.lineCount == 1)
        #expect(answer.deviceError == nil)
    }

    @Test("A reply may begin with a line without end, as a prompt")
    func prompt() async throws {
        #expect(try await exchange("login: ").lineCount == 1)
    }

    @Test("Silence gives a reply without lines")
    func silence() async throws {
        #expect(try await exchange().lineCount == 0)
    }

    @Test("A reply ends with the end pattern or at the timeout, and a failure pattern sets the error")
    func end() async throws {
        var rules = AnswerRules()
        rules.timeout = .seconds(3)
        rules.end = LinePattern("ok|error:*")
        rules.failure = LinePattern("error:*")
        let exchange = LineExchange(with: .raw, over: link, clock: clock)
        for (line, end, expected) in [
            ("ok", LineEnds.cr, nil), ("error:2", .crlf, "error:2"), ("", LineEnds.none, nil),
        ] {
            async let answer = exchange.send(Array("G1".utf8), ends: end, rules) { _ in }
            #expect(await link.nextSent() == "G1" + String(decoding: end.bytes, as: UTF8.self))
            if line.isEmpty {
                await clock.untilSomebodySleeps(until: .seconds(3))
                clock.advance(by: .seconds(1))
                await link.deliver("busy\r\n")
                // Each line starts the timeout of 3 s again.
                await clock.untilSomebodySleeps(until: .seconds(4))
                clock.advance(by: .seconds(3))
            } else {
                await link.deliver("busy\r\n\(line)\r\n")
            }
            let (isEnded, error) = try await (answer.hasEnded, answer.deviceError)
            #expect(isEnded == !line.isEmpty)
            #expect(error == expected)
        }
    }

    @Test("A packet link gets no line end")
    func packets() async throws {
        let link = ScriptedLink(keepsPacketBounds: true)
        let exchange = LineExchange(with: .pump, over: link, clock: clock)
        let sending = Task { try await exchange.send(Array("SEND".utf8)) { _ in } }
        #expect(await link.nextSent() == "SEND")
        sending.cancel()
        await #expect(throws: LinkError.self) { try await sending.value }
    }
}
