import DeviceTestKit
import LineProtocol
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct SessionMemoryTests {
    @Test func `A closed session is freed, even after use`() async throws {
        weak var session: PumpSession?
        weak var link: ScriptedLink?
        weak var clock: ManualClock?
        do {
            let bench = try await SessionBench { $0 == "\nON\n" ? "OK\r\nPUMP:ON\r\n" : nil }
            (session, link, clock) = (bench.session, bench.link, bench.clock)
            #expect(await bench.begin(.on).value == .success(.on))
            let unanswered = bench.begin(.off)
            await bench.goesOut("ON", "OFF")
            await bench.finish()
            _ = await unanswered.value
        }
        // The parts of the session are released on the loop, and the release of one may queue that of another. Each
        // delivery lets the loop run its queue once.
        for _ in 0..<1000 where session != nil || link != nil || clock != nil { await ScriptedLink().deliver("") }
        #expect(session == nil)
        #expect(link == nil)
        #expect(clock == nil)
    }

    @Test func `A session with a lost link is freed`() async throws {
        weak var session: PumpSession?
        do {
            let bench = try await SessionBench()
            session = bench.session
            await bench.link.end(with: SessionBench.gone)
        }
        for _ in 0..<1000 where session != nil { await ScriptedLink().deliver("") }
        #expect(session == nil)
    }

    @Test func `Ten thousand commands leave at most one sleeper on the clock, and none after closing`() async throws {
        let bench = try await SessionBench { $0 == "TEMP\n" ? "TEMP:34.5\r\n" : nil }
        for _ in 0..<10_000 {
            _ = try await bench.session.readTemperatures()
            bench.clock.advance(by: .milliseconds(100))
        }
        #expect(await bench.link.nextSent(10_000).allSatisfy { $0 == "TEMP\n" })
        await bench.settle()
        #expect(bench.clock.deadlines.count <= 1)
        await bench.finish()
        #expect(bench.clock.deadlines == [])
    }
}
