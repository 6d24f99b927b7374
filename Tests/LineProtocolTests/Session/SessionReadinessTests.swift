import DeviceTestKit
import LineProtocol
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct SessionReadinessTests {
    @Test func `A session that fails to begin closes the link`() async {
        /// Begins a session over a link that is lost after the first query. Returns how often the link was closed, and
        /// whether the session failed.
        func failure(_ begin: @escaping @Sendable (any Link, ManualClock) async throws -> Void) async -> (Int, Bool) {
            let (link, clock) = (ScriptedLink(mayHaveReset: true), ManualClock())
            let beginning = Task { try await begin(link, clock) }
            _ = await link.nextSent()
            await link.end(with: LinkError(.disconnected, name: "scripted", activity: "receive"))
            let result = await beginning.result
            if case .failure = result { return (link.closeCount, true) }
            return (link.closeCount, false)
        }
        #expect(await failure { _ = try await PumpSession.begin(over: $0, clock: $1) } == (1, true))
        #expect(await failure { _ = try await LEDSession.begin(over: $0, clock: $1) } == (1, true))
    }

    @Test func `A failed first read, a silent device and a cancellation close the link`() async throws {
        let clock = ManualClock()
        let gone = ScriptedLink()
        await gone.end(with: LinkError(.disconnected, name: "scripted", activity: "receive"))
        let error = await #expect(throws: SessionError.self) {
            _ = try await PumpSession.begin(over: gone, clock: clock)
        }
        #expect(error?.code == .linkLost && gone.closeCount == 1)

        let silent = ScriptedLink(mayHaveReset: true)
        let beginning = Task { _ = try await LEDSession.begin(over: silent, clock: clock) }
        // The first query is repeated twice a second, for 8 s.
        for count in 1...16 {
            #expect(await silent.nextSent() == "LED\n")
            await clock.untilSomebodySleeps(until: .milliseconds(500 * count))
            clock.advance(by: .milliseconds(500))
        }
        let silence = await #expect(throws: SessionError.self) { try await beginning.value }
        #expect(silence?.code == .noAnswer && silent.closeCount == 1)

        let cancelled = ScriptedLink(mayHaveReset: true)
        let waiting = Task { _ = try await PumpSession.begin(over: cancelled, clock: clock) }
        _ = await cancelled.nextSent()
        waiting.cancel()
        let end = await #expect(throws: SessionError.self) { try await waiting.value }
        #expect(end?.code == .cancelled && cancelled.closeCount == 1)
    }

    @Test func `A device that answers at once is ready and has not restarted`() async throws {
        let bench = try await SessionBench { $0 == "TEMP\n" ? "TEMP:34.5\r\n" : nil }
        try await bench.session.waitUntilReady()
        #expect(await !bench.session.hasDeviceStarted)
        #expect(await !bench.session.wasDeviceSilent)
        await bench.goesOut("TEMP")
        await bench.finish()
    }

    @Test func `A silent device is queried until it answers and need not have restarted`() async throws {
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
        #expect(await !bench.session.hasDeviceStarted)
        #expect(await bench.session.wasDeviceSilent)
        await bench.finish()
    }

    @Test func `Waiting for a device ends at its limit without a command sent`() async throws {
        let bench = try await SessionBench()
        let ready = Task.immediate { () -> SessionError? in
            do throws(SessionError) {
                try await bench.session.waitUntilReady(within: .seconds(2))
                return nil
            } catch {
                return error
            }
        }
        // The query is due every 0.5 s. The last step skips the one at 1.5 s.
        for wait in [0.5, 0.5, 1.0] {
            await bench.goesOut("TEMP")
            bench.clock.advance(by: .seconds(wait))
        }
        // The caller has sent no command, so the error has a description in its place.
        let error = SessionError(.noAnswer, command: "the first query", outcome: .notSent, waited: .seconds(2))
        #expect(await ready.value == error)
        await bench.finish()
    }

    @Test(arguments: ["HELLO:pump", "Ready for commands..."])
    func `A boot banner shows that the device has started`(line: String) async throws {
        let bench = try await SessionBench()
        await bench.comesIn(line)
        #expect(await bench.session.hasDeviceStarted)
        #expect(await bench.session.state.power == .unknown)
        await bench.finish(heard: [.now(line)])
    }

    @Test func `A device that only refuses is ready`() async throws {
        let bench = try await SessionBench { _ in "ERROR:UNKNOWN_COMMAND\r\n" }
        try await bench.session.waitUntilReady()
        await bench.goesOut("TEMP")
        await bench.finish()
    }
}
