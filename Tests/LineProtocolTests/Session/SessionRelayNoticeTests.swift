import DeviceTestKit
import LineProtocol
import TestSupport
import Testing

/// The lines of a server that shares the device: the refusals of commands, and the notices to all clients. A fence is
/// the TEMP that a session sends before a command to separate stale lines from new ones.
@Suite(.timeLimit(.minutes(5))) struct SessionRelayNoticeTests {
    /// Refuses a command while the server has no connection to the device.
    static let away = "ERROR:DEVICE_AWAY"
    /// Refuses a change because the OFF of another client has overtaken it.
    static let overtaken = "ERROR:OVERTAKEN"

    /// The result of a command that the server has not sent to the device.
    private static func unsent(_ command: PumpCommand, _ code: SessionError.Code = .deviceAway) -> Result<
        PumpReply, SessionError
    > { .failure(SessionError(code, command: command.text, outcome: .notSent)) }

    @Test(arguments: [PumpCommand.on, .speed(speed(9)), .status, .temperature], [true, false])
    func `A command that the server does not send fails at once as not sent`(_ command: PumpCommand, hasPast: Bool)
        async throws
    {
        let bench = try await SessionBench(hasPast: hasPast)
        let attempt = bench.begin(command)
        await bench.goesOut(command.text)
        await bench.comesIn(Self.away)
        #expect(await attempt.value == Self.unsent(command))
        // Nothing is in doubt, so the next command is sent without a fence.
        let next = bench.begin(.on)
        await bench.goesOut("ON")
        await bench.comesIn("OK", "PUMP:ON")
        #expect(await next.value == .success(.on))
        await bench.finish()
    }

    @Test func `A command whose fence the server does not send fails as not sent`() async throws {
        let bench = try await SessionBench(backlog: ["SPEED:7\r\n"])
        let attempt = bench.begin(.on)
        await bench.goesOut("TEMP")
        await bench.comesIn(Self.away)
        #expect(await attempt.value == Self.unsent(.on))
        // The refused fence gets no reply, so the session waits for none. The next command has a fence of its own.
        let next = bench.begin(.on)
        await bench.goesOut("TEMP")
        await bench.comesIn("TEMP:34.5")
        await bench.goesOut("ON")
        await bench.comesIn("OK", "PUMP:ON")
        #expect(await next.value == .success(.on))
        await bench.finish(heard: [.before("SPEED:7")])
    }

    @Test func `If the server refuses the spoiled line and then the fence, the command is not sent`() async throws {
        let bench = try await SessionBench(mayBeMidLine: true)
        let attempt = bench.begin(.on)
        await bench.goesOut("999\nTEMP")
        await bench.comesIn(Self.away)
        await bench.settle()
        await bench.comesIn(Self.away)
        #expect(await attempt.value == Self.unsent(.on))
        await bench.finish()
    }

    @Test func `A change overtaken by another client's OFF is not sent`() async throws {
        let bench = try await SessionBench()
        let attempt = bench.begin(.on)
        await bench.goesOut("ON")
        await bench.comesIn(Self.overtaken)
        #expect(await attempt.value == Self.unsent(.on, .overtaken))
        await bench.finish()
    }

    @Test func `A query is never overtaken`() async throws {
        let bench = try await SessionBench()
        let attempt = bench.begin(.status)
        await bench.goesOut("STATUS")
        await bench.comesIn(Self.overtaken)
        await bench.goesOut("STATUS")
        await bench.comesIn(SessionBench.statusOn)
        #expect(await attempt.value == .success(.status(status(SessionBench.statusOn))))
        await bench.finish(heard: [.now(Self.overtaken)])
    }

    @Test func `A refusal that may answer an earlier command still fails the fenced change`() async throws {
        let bench = try await SessionBench(hasPast: false)
        let first = bench.begin(.on, timeout: .seconds(1))
        await bench.goesOut("ON")
        await bench.pass(until: .seconds(1))
        guard case .failure(let error) = await first.value else {
            Issue.record("ON was not acknowledged")
            return
        }
        #expect(error.outcome == .unknown)
        let second = bench.begin(.on)
        await bench.goesOut("TEMP")
        await bench.comesIn(Self.away)
        #expect(await second.value == Self.unsent(.on))
        // The refusal may have been the first command's. Then the fence of the second command still gets a reply, so
        // the first reply to TEMP does not release the third command: the session waits 1 s for another.
        let third = bench.begin(.on)
        await bench.goesOut("TEMP")
        await bench.comesIn("TEMP:34.5")
        await bench.clock.untilSomebodySleeps(until: .seconds(2))
        await bench.comesIn("TEMP:34.5")
        await bench.goesOut("ON")
        await bench.comesIn("OK", "PUMP:ON")
        #expect(await third.value == .success(.on))
        await bench.finish()
    }

    @Test func `After a doubtful error a refusal answers the fence, and the change stays in doubt`() async throws {
        let bench = try await SessionBench()
        let attempt = bench.begin(.on)
        await bench.goesOut("ON")
        await bench.comesIn("ERROR:SOMETHING_NEW")
        await bench.goesOut("TEMP")
        await bench.comesIn(Self.away)
        await bench.pass(until: .seconds(3))
        #expect(
            await attempt.value
                == .failure(
                    SessionError(.noAnswer, command: "ON", outcome: .unknown, waited: .seconds(3))))
        await bench.finish(heard: [.now("ERROR:SOMETHING_NEW"), .now(Self.away)])
    }

    // MARK: OFF

    // OFF is repeated 250 ms after a refusal by the server, and 500 ms after an OFF without a reply.

    @Test func `OFF is repeated until the device is back`() async throws {
        let bench = try await SessionBench(hasPast: false)
        let attempt = bench.begin(.off)
        await bench.goesOut("OFF")
        await bench.comesIn(Self.away)
        await bench.pass(until: .milliseconds(250))
        await bench.goesOut("OFF")
        await bench.comesIn("OK", "PUMP:OFF")
        await bench.confirmsOff()
        #expect(await attempt.value == .success(.off))
        await bench.finish()
    }

    /// Sends OFF with a timeout of 500 ms, in which the server refuses it twice. Returns the error of OFF.
    private func turnedAwayTwice(_ bench: SessionBench) async -> SessionError? {
        let start = bench.clock.now.offset
        let attempt = bench.begin(.off, timeout: .milliseconds(500))
        for end in [Duration.milliseconds(250), .milliseconds(500)] {
            await bench.goesOut("OFF")
            await bench.comesIn(Self.away)
            await bench.pass(until: start + end)
        }
        guard case .failure(let error) = await attempt.value else { return nil }
        return error
    }

    @Test func `OFF that the server never sent fails as not sent`() async throws {
        let bench = try await SessionBench()
        let error = await turnedAwayTwice(bench)
        #expect(error?.code == .deviceAway)
        #expect(error?.outcome == .notSent)
        await bench.finish()
    }

    @Test(arguments: [true, false])
    func `If one of two OFFs is refused, the other unanswered, the outcome is unknown`(isFirst: Bool) async throws {
        let bench = try await SessionBench()
        let attempt = bench.begin(.off, timeout: .milliseconds(750))
        await bench.goesOut("OFF")
        if isFirst {
            await bench.pass(until: .milliseconds(500))
        } else {
            await bench.comesIn(Self.away)
            await bench.pass(until: .milliseconds(250))
        }
        await bench.goesOut("OFF")
        if isFirst { await bench.comesIn(Self.away) }
        await bench.pass(until: .milliseconds(750))
        guard case .failure(let error) = await attempt.value else {
            Issue.record("OFF was not acknowledged")
            return
        }
        #expect(error.outcome == .unknown)
        await bench.session.close()
    }

    @Test func `If a refusal may concern an earlier unanswered command, the outcome of OFF is unknown`() async throws {
        let bench = try await SessionBench(hasPast: false)
        let first = bench.begin(.on, timeout: .seconds(1))
        await bench.goesOut("ON")
        await bench.pass(until: .seconds(1))
        _ = await first.value
        let error = await turnedAwayTwice(bench)
        #expect(error?.code == .deviceAway)
        #expect(error?.outcome == .unknown)
        await bench.session.close()
    }

    // MARK: Notices to all clients

    @Test(arguments: ["[WARNING] the device is away", "[WARNING] the device is back"])
    func `The loss and the return of the device make the state unknown`(line: String) async throws {
        let bench = try await SessionBench()
        await bench.comesIn("MANUAL:ON")
        #expect(await bench.session.state.power == .on)
        await bench.comesIn(line)
        #expect(await bench.session.state.power == .unknown)
        await bench.finish(heard: [.now("MANUAL:ON"), .now(line)])
    }
}
