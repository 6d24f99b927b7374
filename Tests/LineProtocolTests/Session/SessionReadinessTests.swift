import LineProtocol
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1))) struct SessionReadinessTests {
    @Test func `A device that answers at once is ready and has not started`() async throws {
        let bench = try await SessionBench { $0 == "TEMP\n" ? "TEMP:34.5\r\n" : nil }
        try await bench.session.waitUntilReady()
        #expect(await !bench.session.hasDeviceStarted)
        await bench.goesOut("TEMP")
        await bench.finish()
    }

    @Test func `A device that starts is asked until it answers`() async throws {
        let bench = try await SessionBench()
        let ready = Task.immediate { try await bench.session.waitUntilReady() }
        await bench.goesOut("TEMP")
        bench.clock.advance(by: .milliseconds(500))
        await bench.goesOut("TEMP")
        bench.clock.advance(by: .milliseconds(500))
        await bench.goesOut("TEMP")
        await bench.comesIn("TEMP:34.5")
        await bench.goesOut("TEMP")
        await bench.comesIn("TEMP:34.5")
        try await ready.value
        #expect(await bench.session.hasDeviceStarted)
        await bench.finish()
    }
}
