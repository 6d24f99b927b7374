import LineProtocol
import Testing

@Suite("A session with a board that may have been reset")
struct SessionReadinessTests {
    @Test("is ready at once where the board answers")
    func answersAtOnce() async throws {
        let bench = try await SessionBench { sent in sent == "TEMP\n" ? "TEMP:34.5\r\n" : nil }
        try await bench.session.waitUntilReady()
        #expect(await bench.session.hasDeviceStarted == false)
        await bench.goesOut("TEMP")
        await bench.finish()
    }

    @Test("asks until the board answers, and tells that it has started")
    func waitsForStart() async throws {
        let bench = try await SessionBench()
        let ready = Task { try await bench.session.waitUntilReady() }
        for _ in 1...2 {
            // Twice in a second, then again.
            await bench.goesOut("TEMP")
            bench.clock.advance(by: .milliseconds(500))
            await bench.goesOut("TEMP")
            bench.clock.advance(by: .milliseconds(500))
        }
        await bench.goesOut("TEMP")
        await bench.comesIn("TEMP:34.5")
        try await ready.value
        #expect(await bench.session.hasDeviceStarted)
        await bench.finish()
    }

    @Test("gives up after the limit, with nothing done")
    func givesUp() async throws {
        let bench = try await SessionBench()
        let ready = Task { () -> SessionError? in
            do throws(SessionError) {
                try await bench.session.waitUntilReady(within: .seconds(2))
                return nil
            } catch {
                return error
            }
        }
        for _ in 1...4 {
            await bench.goesOut("TEMP")
            bench.clock.advance(by: .milliseconds(500))
        }
        #expect(await ready.value?.code == .noAnswer)
        await bench.finish()
    }

    @Test("hears from a banner that the board has started", arguments: ["HELLO:pump", "Ready for commands..."])
    func hearsBanner(line: String) async throws {
        let bench = try await SessionBench()
        await bench.comesIn(line)
        #expect(await bench.session.hasDeviceStarted)
        #expect(await bench.session.state.power == .unknown)
        await bench.finish(heard: [.now(line)])
    }
}
