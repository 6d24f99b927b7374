import DeviceTestKit
import LineProtocol
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct SessionReconcilingTests {
    /// The error of an ON whose outcome is unknown.
    private static func unknown(_ code: SessionError.Code = .noAnswer) -> SessionError {
        SessionError(code, command: "ON", outcome: .unknown)
    }

    @Test func `After a doubtful command the status is queried`() async throws {
        let bench = try await SessionBench(hasPast: false)
        let on = bench.begin(.on)
        await bench.goesOut("ON")
        bench.clock.advance(by: .seconds(3))
        guard case .failure(let error) = await on.value else {
            Issue.record("it was answered")
            return
        }
        #expect(await bench.session.state.power == .unknown)
        let asking = Task.immediate { [session = bench.session] in await session.reconcile(after: error) }
        // ON is still unanswered, so TEMP separates stale lines from the reply to STATUS.
        await bench.goesOut("TEMP")
        await bench.comesIn("TEMP:34.5")
        await bench.goesOut("STATUS")
        await bench.comesIn(SessionBench.statusOn)
        guard case .status(let status)? = await asking.value else {
            Issue.record("no status")
            return
        }
        #expect(status.power == .on)
        #expect(await bench.session.state.power == .on)
        await bench.finish()
    }

    @Test func `Without doubt, after a cancellation, or without a link, no status is queried`() async throws {
        let bench = try await SessionBench(hasPast: false)
        for outcome in [SessionError.Outcome.notSent, .nothingChanged] {
            let error = SessionError(.noAnswer, command: "ON", outcome: outcome)
            #expect(await bench.session.reconcile(after: error) == nil)
        }
        #expect(await bench.session.reconcile(after: Self.unknown(.cancelled)) == nil)
        await bench.link.end(with: SessionBench.gone)
        #expect(await bench.session.reconcile(after: Self.unknown(.linkLost)) == nil)
        #expect(bench.link.unreadSent == [])
        await bench.finish(heard: [.lost(SessionBench.gone)])
    }
}
