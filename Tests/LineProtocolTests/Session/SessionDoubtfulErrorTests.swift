import DeviceTestKit
import LineProtocol
import TestSupport
import Testing

/// An error may answer an older line, for example of another program. After such an error a session repeats a query.
/// After a change it sends TEMP as a fence: all replies to older lines come before the reply to TEMP.
@Suite(.timeLimit(.minutes(5))) struct SessionDoubtfulErrorTests {
    @Test func `A late error for another program does not refuse the first change`() async throws {
        let bench = try await SessionBench()
        let attempt = bench.begin(.on)
        await bench.goesOut("ON")
        await bench.comesIn("ERROR:UNKNOWN_COMMAND")
        await bench.goesOut("TEMP")
        await bench.comesIn("OK", "PUMP:ON", "TEMP:34.5")
        #expect(await attempt.value == .success(.on))
        await bench.finish(heard: [.now("ERROR:UNKNOWN_COMMAND"), .now("TEMP:34.5")])
    }

    @Test func `After an error, the next change waits for the reply to the fence`()
        async throws
    {
        let bench = try await SessionBench(hasPast: false)
        let on = bench.begin(.on)
        await bench.goesOut("ON")
        await bench.comesIn("ERROR:UNKNOWN_COMMAND")
        await bench.goesOut("TEMP")
        await bench.comesIn("OK", "PUMP:ON")
        #expect(await on.value == .success(.on))
        let speed = bench.begin(.speed(speed(9)))
        await bench.settle()
        #expect(bench.link.unreadSent == [])
        await bench.comesIn("TEMP:34.5")
        await bench.goesOut("SPEED:9")
        await bench.comesIn("OK", "SPEED:9")
        _ = try await speed.value.get()
        await bench.session.close()
    }

    @Test func `The acknowledgement may come in one chunk with the error`() async throws {
        let bench = try await SessionBench()
        let attempt = bench.begin(.on)
        await bench.goesOut("ON")
        await bench.comesIn("ERROR:CMD_TOO_LONG", "OK", "PUMP:ON")
        #expect(await attempt.value == .success(.on))
        await bench.session.close()
    }

    @Test(arguments: ["PUMP_NOT_RUNNING", "UNKNOWN_COMMAND"])
    func `An error confirmed by the fence refuses the first change`(code: String) async throws {
        let bench = try await SessionBench()
        let attempt = bench.begin(.speed(speed(9)))
        await bench.goesOut("SPEED:9")
        await bench.comesIn("ERROR:" + code)
        await bench.goesOut("TEMP")
        await bench.comesIn("TEMP:34.5")
        #expect(
            await attempt.value
                == .failure(
                    SessionError(.refused, command: "SPEED:9", outcome: .nothingChanged, deviceCode: code)))
        await bench.session.close()
    }

    @Test func `Of two errors the second one answers the change`() async throws {
        let bench = try await SessionBench()
        let attempt = bench.begin(.speed(speed(9)))
        await bench.goesOut("SPEED:9")
        await bench.comesIn("ERROR:UNKNOWN_COMMAND")
        await bench.goesOut("TEMP")
        await bench.comesIn("ERROR:PUMP_NOT_RUNNING", "TEMP:34.5")
        #expect(await attempt.value.failure?.deviceCode == "PUMP_NOT_RUNNING")
        await bench.session.close()
    }

    @Test func `A first query that gets a late error is repeated`() async throws {
        let bench = try await SessionBench()
        let attempt = bench.begin(.status)
        await bench.goesOut("STATUS")
        await bench.comesIn("ERROR:CMD_TOO_LONG")
        await bench.goesOut("STATUS")
        await bench.comesIn("ERROR:UNKNOWN_COMMAND", SessionBench.statusOff)
        #expect(await attempt.value == .success(.status(status(SessionBench.statusOff))))
        await bench.session.close()
    }

    @Test func `After a first reply, an error refuses a query at once`() async throws {
        let bench = try await SessionBench(hasPast: false)
        let attempt = bench.begin(.status)
        await bench.goesOut("STATUS")
        await bench.comesIn("ERROR:UNKNOWN_COMMAND")
        #expect(await attempt.value.failure?.code == .refused)
        await bench.finish()
    }
}

extension Result where Failure == SessionError {
    fileprivate var failure: SessionError? { if case .failure(let error) = self { error } else { nil } }
}
