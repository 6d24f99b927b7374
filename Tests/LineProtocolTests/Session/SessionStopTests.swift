import DeviceTestKit
import LineProtocol
import TestSupport
import Testing

/// OFF goes before everything else, and is repeated until it is acknowledged.
@Suite(.timeLimit(.minutes(5))) struct SessionStopTests {
    /// The time between two sendings of OFF. Only after an error OFF is repeated sooner, after 250 ms.
    static let interval = Duration.milliseconds(500)

    @Test func `OFF is one write with a bare line end before it`() async throws {
        let bench = try await SessionBench(hasPast: false)
        let attempt = bench.begin(.off)
        #expect(await bench.link.nextSent() == "\nOFF\n")
        await bench.comesIn("OK", "PUMP:OFF")
        await bench.confirmsOff()
        #expect(await attempt.value == .success(.off))
        await bench.finish()
    }

    @Test func `An error for another program's half line does not answer OFF`() async throws {
        let bench = try await SessionBench(hasPast: false)
        let attempt = bench.begin(.off)
        await bench.goesOut("OFF")
        await bench.comesIn("ERROR:UNKNOWN_COMMAND", "OK", "PUMP:OFF")
        await bench.confirmsOff()
        #expect(await attempt.value == .success(.off))
        await bench.finish(heard: [.now("ERROR:UNKNOWN_COMMAND")])
    }

    @Test(arguments: [["OK", "MANUAL:ON", "PUMP:OFF"], ["MANUAL:ON", "OK", "PUMP:OFF"]])
    func `OFF is repeated if the button switches the pump on just before or within the acknowledgement`(lines: [String])
        async throws
    {
        let bench = try await SessionBench(hasPast: false)
        let attempt = bench.begin(.off)
        await bench.goesOut("OFF")
        for line in lines { await bench.comesIn(line) }
        await bench.pass(until: Self.interval)
        await bench.goesOut("OFF")
        await bench.comesIn("OK", "PUMP:OFF")
        await bench.confirmsOff()
        #expect(await attempt.value == .success(.off))
        #expect(await bench.session.state.power == .off)
        await bench.finish(heard: [.now("MANUAL:ON"), .now("PUMP:OFF")])
    }

    @Test func `If the link breaks during the status query, the outcome of OFF is unknown`() async throws {
        let bench = try await SessionBench(hasPast: false)
        let attempt = bench.begin(.off)
        await bench.goesOut("OFF")
        await bench.pass(until: Self.interval)
        await bench.goesOut("OFF")
        await bench.pass(until: Self.interval * 2)
        await bench.goesOut("TEMP")
        await bench.link.end(with: SessionBench.gone)
        #expect(
            await attempt.value
                == .failure(SessionError(.linkLost, command: "OFF", outcome: .unknown, link: SessionBench.gone)))
        await bench.session.close()
    }

    @Test(arguments: ["UNKNOWN_COMMAND", "CMD_TOO_LONG"])
    func `OFF is repeated if only an error comes`(code: String) async throws {
        let bench = try await SessionBench(hasPast: false)
        let attempt = bench.begin(.off)
        await bench.goesOut("OFF")
        await bench.comesIn("ERROR:" + code)
        await bench.pass(until: .milliseconds(250))
        await bench.goesOut("OFF")
        await bench.comesIn("OK", "PUMP:OFF")
        await bench.confirmsOff()
        #expect(await attempt.value == .success(.off))
        await bench.finish(heard: [.now("ERROR:" + code)])
    }

    @Test func `OFF is repeated if no reply comes`() async throws {
        let bench = try await SessionBench(hasPast: false)
        let attempt = bench.begin(.off)
        await bench.goesOut("OFF")
        await bench.pass(until: Self.interval)
        await bench.goesOut("OFF")
        await bench.comesIn("OK", "PUMP:OFF")
        await bench.confirmsOff()
        #expect(await attempt.value == .success(.off))
        await bench.finish()
    }

    @Test(arguments: [LinkError.Code.busy, .timedOut, .unavailable])
    func `OFF is repeated if the link is busy`(code: LinkError.Code) async throws {
        let bench = try await SessionBench(hasPast: false)
        bench.link.failSends(with: LinkError(code, name: "scripted", activity: "send"))
        let attempt = bench.begin(.off)
        await bench.clock.untilSomebodySleeps(until: Self.interval)
        await bench.settle()
        bench.link.failSends(with: nil)
        bench.clock.advance(by: Self.interval)
        await bench.goesOut("OFF")
        await bench.comesIn("OK", "PUMP:OFF")
        await bench.confirmsOff()
        #expect(await attempt.value == .success(.off))
        await bench.finish()
    }

    @Test func `OFF goes before waiting queries`() async throws {
        let bench = try await SessionBench(hasPast: false)
        let queries = [bench.begin(.status), bench.begin(.temperature), bench.begin(.status)]
        await bench.goesOut("STATUS")
        await bench.settle()
        let attempt = bench.begin(.off)
        await bench.goesOut("OFF")
        await bench.comesIn("OK", "PUMP:OFF")
        await bench.confirmsOff()
        #expect(await attempt.value == .success(.off))
        await bench.session.close()
        for query in queries { _ = await query.value }
    }

    @Test(arguments: ["PUMP:OFF", "O\rPUMP:OFF", "[PUMP] OFF\r\nPUMP:OFF"])
    func `OFF succeeds even if its OK is lost`(lines: String) async throws {
        let bench = try await SessionBench(hasPast: false)
        let attempt = bench.begin(.off)
        await bench.goesOut("OFF")
        await bench.comesIn(lines)
        await bench.confirmsOff()
        #expect(await attempt.value == .success(.off))
        await bench.session.close()
    }

    @Test func `If the acknowledgements are lost, a status after a fence confirms OFF`() async throws {
        let bench = try await SessionBench(hasPast: false)
        let attempt = bench.begin(.off)
        await bench.goesOut("OFF")
        await bench.pass(until: Self.interval)
        await bench.goesOut("OFF")
        await bench.comesIn("OK", SessionBench.statusOff)
        await bench.pass(until: Self.interval * 2)
        await bench.goesOut("TEMP")
        await bench.comesIn("TEMP:34.5")
        await bench.goesOut("STATUS")
        await bench.comesIn(SessionBench.statusOff)
        #expect(await attempt.value == .success(.off))
        #expect(await bench.session.state.power == .off)
        await bench.finish(heard: [.now(SessionBench.statusOff)])
    }

    @Test(arguments: [(SessionBench.statusOn, "ON"), (SessionBench.statusError, "ERROR")])
    func `If the status is not OFF, OFF is repeated every 0.5 s and then fails with that state`(
        line: String, state: String
    ) async throws {
        let bench = try await SessionBench { sent in
            switch sent {
            case "\nOFF\n": "OK\r\nPUMP:OFF\r\n"
            case "TEMP\n": "TEMP:34.5\r\n"
            case "STATUS\n": line + "\r\n"
            default: nil
            }
        }
        let attempt = bench.begin(.off, timeout: .seconds(2))
        for time in [500, 1000, 1500, 2000] {
            await bench.goesOut("OFF", "TEMP", "STATUS")
            await bench.pass(until: .milliseconds(time))
        }
        var error = SessionError(.notInEffect, command: "OFF", outcome: .unknown, waited: .seconds(2))
        error.deviceState = state
        #expect(await attempt.value == .failure(error))
        #expect("\(error)" == "the device acknowledged OFF, but its status says \(state)")
        #expect(await bench.session.state.power.rawValue.uppercased() == state)
        await bench.finish()
    }

    @Test func `A refusal after an unconfirmed acknowledgement repeats OFF until it is confirmed`()
        async throws
    {
        let bench = try await SessionBench()
        let attempt = bench.begin(.off, timeout: .milliseconds(750))
        await bench.goesOut("OFF")
        await bench.comesIn("OK", "PUMP:OFF")
        // The pump does not answer this query, for example because another program's half line precedes it.
        await bench.goesOut("TEMP")
        await bench.pass(until: .milliseconds(500))
        await bench.goesOut("OFF")
        await bench.comesIn("ERROR:UNKNOWN_COMMAND")
        await bench.pass(until: .milliseconds(750))
        await bench.goesOut("OFF")
        await bench.comesIn("OK", "PUMP:OFF")
        await bench.goesOut("TEMP")
        // This may be the reply to the first TEMP, so the session waits for the reply to the second.
        await bench.comesIn("TEMP:34.5")
        // The pump's lines have extended the time to 1500 ms, and the session waits for half of the rest.
        await bench.pass(until: .milliseconds(1125))
        await bench.goesOut("STATUS")
        await bench.comesIn(SessionBench.statusOff)
        #expect(await attempt.value == .success(.off))
        await bench.finish(heard: [.now("ERROR:UNKNOWN_COMMAND")])
    }

    @Test func `Repeated errors do not prevent the status query`() async throws {
        let bench = try await SessionBench(hasPast: false)
        let attempt = bench.begin(.off)
        for time in [250, 500] {
            await bench.goesOut("OFF")
            await bench.comesIn("ERROR:UNKNOWN_COMMAND")
            await bench.pass(until: .milliseconds(time))
        }
        await bench.confirmsOff()
        #expect(await attempt.value == .success(.off))
        await bench.session.close()
    }

    @Test func `The wait for an earlier fence leaves time for the status query`() async throws {
        let bench = try await SessionBench()
        let attempt = bench.begin(.off, timeout: .milliseconds(750))
        await bench.goesOut("OFF")
        await bench.comesIn("OK", "PUMP:OFF")
        await bench.goesOut("TEMP")
        await bench.pass(until: .milliseconds(500))
        await bench.goesOut("OFF")
        await bench.comesIn("OK", "PUMP:OFF")
        await bench.goesOut("TEMP")
        await bench.comesIn("TEMP:34.5")
        // The pump's lines have extended the time to 1250 ms, and the session waits for half of the rest.
        await bench.pass(until: .milliseconds(875))
        await bench.goesOut("STATUS")
        await bench.comesIn(SessionBench.statusOff)
        #expect(await attempt.value == .success(.off))
        await bench.finish()
    }

    @Test func `OFF withdraws a change that the carrier has not taken`() async throws {
        let bench = try await SessionBench(hasPast: false)
        bench.link.holdSends()
        let on = bench.begin(.on)
        await bench.goesOut("ON")
        await bench.comesIn("OK", "PUMP:ON")
        await bench.settle()
        let off = bench.begin(.off)
        await bench.goesOut("OFF")
        #expect(await on.value == .failure(SessionError(.overtaken, command: "ON", outcome: .unknown)))
        #expect(bench.link.heldSendCount <= 1, "the change is not among what waits")
        bench.link.releaseSends()
        await bench.comesIn("OK", "PUMP:OFF")
        await bench.confirmsOff()
        #expect(await off.value == .success(.off))
        await bench.session.close()
    }

    @Test func `OFF overtakes a query in flight, which is repeated`() async throws {
        let bench = try await SessionBench(hasPast: false)
        let query = bench.begin(.status)
        await bench.goesOut("STATUS")
        let off = bench.begin(.off)
        await bench.goesOut("OFF")
        await bench.comesIn(SessionBench.statusOn, "OK", "PUMP:OFF")
        await bench.confirmsOff()
        #expect(await off.value == .success(.off))
        await bench.goesOut("STATUS")
        await bench.comesIn(SessionBench.statusOff)
        #expect(await query.value == .success(.status(status(SessionBench.statusOff))))
        await bench.finish(heard: [.now(SessionBench.statusOn)])
    }

    @Test func `An overtaken query keeps its place before later ones`() async throws {
        let bench = try await SessionBench(hasPast: false)
        let first = bench.begin(.status)
        await bench.goesOut("STATUS")
        let second = bench.begin(.temperature)
        await bench.settle()
        let off = bench.begin(.off)
        await bench.goesOut("OFF")
        await bench.comesIn("OK", "PUMP:OFF")
        await bench.confirmsOff()
        #expect(await off.value == .success(.off))
        await bench.goesOut("STATUS")
        await bench.comesIn(SessionBench.statusOff)
        _ = try await first.value.get()
        await bench.goesOut("TEMP")
        await bench.comesIn("TEMP:34.5")
        _ = try await second.value.get()
        await bench.finish()
    }

    @Test func `OFF overtakes a change in flight, and waiting changes are not sent`() async throws {
        let bench = try await SessionBench(hasPast: false)
        let on = bench.begin(.on)
        await bench.goesOut("ON")
        let waiting = bench.begin(.speed(speed(9)))
        let query = bench.begin(.temperature)
        await bench.settle()
        let off = bench.begin(.off)
        #expect(await on.value == .failure(SessionError(.overtaken, command: "ON", outcome: .unknown)))
        await bench.goesOut("OFF")
        await bench.comesIn("OK", "PUMP:ON", "OK", "PUMP:OFF")
        await bench.confirmsOff()
        #expect(await off.value == .success(.off))
        #expect(await waiting.value == .failure(SessionError(.overtaken, command: "SPEED:9", outcome: .notSent)))
        await bench.goesOut("TEMP")
        await bench.comesIn("TEMP:34.5")
        _ = try await query.value.get()
        await bench.finish(heard: [.now("PUMP:ON"), .now("OK")])
    }

    @Test func `A change whose fence OFF overtakes is not sent`() async throws {
        let bench = try await SessionBench(backlog: ["OK\r\n"])
        let on = bench.begin(.on)
        await bench.goesOut("TEMP")
        let off = bench.begin(.off)
        await bench.goesOut("OFF")
        await bench.comesIn("TEMP:34.5", "OK", "PUMP:OFF")
        await bench.confirmsOff()
        #expect(await off.value == .success(.off))
        #expect(await on.value == .failure(SessionError(.overtaken, command: "ON", outcome: .notSent)))
        await bench.finish(heard: [.before("OK"), .now("TEMP:34.5")])
    }

    @Test(arguments: [[], ["PUMP:ON\r\n"]])
    func `Only a status that says OFF confirms OFF, even if a late ON follows the acknowledgement`(
        backlog: [String]
    ) async throws {
        let bench = try await SessionBench(backlog: backlog)
        let attempt = bench.begin(.off)
        await bench.goesOut("OFF")
        await bench.comesIn("OK", "PUMP:OFF")
        await bench.goesOut("TEMP")
        await bench.comesIn("OK", "PUMP:ON", "TEMP:34.5")
        await bench.goesOut("STATUS")
        await bench.comesIn(SessionBench.statusOn)
        await bench.pass(until: Self.interval)
        await bench.goesOut("OFF")
        await bench.comesIn("OK", "PUMP:OFF")
        await bench.confirmsOff()
        #expect(await attempt.value == .success(.off))
        #expect(await bench.session.state.power == .off)
        await bench.session.close()
    }

    @Test func `Two OFFs are sent one after the other, and both are answered`() async throws {
        let bench = try await SessionBench(hasPast: false)
        let first = bench.begin(.off)
        await bench.goesOut("OFF")
        let second = bench.begin(.off)
        await bench.settle()
        #expect(bench.link.unreadSent == [])
        await bench.comesIn("OK", "PUMP:OFF")
        await bench.confirmsOff()
        #expect(await first.value == .success(.off))
        await bench.goesOut("OFF")
        await bench.comesIn("OK", "PUMP:OFF")
        await bench.confirmsOff()
        #expect(await second.value == .success(.off))
        await bench.finish()
    }

    @Test func `A cancelled task still sends OFF and gets its result`() async throws {
        let bench = try await SessionBench(hasPast: false)
        let attempt = bench.begin(.off, cancelled: true)
        await bench.goesOut("OFF")
        await bench.comesIn("OK", "PUMP:OFF")
        await bench.confirmsOff()
        #expect(await attempt.value == .success(.off))
        await bench.finish()
    }

    @Test func `A task cancelled while waiting still sends OFF`() async throws {
        let bench = try await SessionBench(hasPast: false)
        let first = bench.begin(.off)
        await bench.goesOut("OFF")
        let second = bench.begin(.off)
        await bench.settle()
        second.cancel()
        await bench.settle()
        await bench.comesIn("OK", "PUMP:OFF")
        await bench.confirmsOff()
        _ = await first.value
        await bench.goesOut("OFF")
        await bench.comesIn("OK", "PUMP:OFF")
        await bench.confirmsOff()
        #expect(await second.value == .success(.off))
        await bench.finish()
    }

    @Test func `After a repeated OFF the next change waits for the second reply`() async throws {
        let bench = try await SessionBench(hasPast: false)
        let off = bench.begin(.off)
        await bench.goesOut("OFF")
        await bench.pass(until: Self.interval)
        await bench.goesOut("OFF")
        await bench.comesIn("OK", "PUMP:OFF")
        await bench.confirmsOff()
        #expect(await off.value == .success(.off))
        let on = bench.begin(.on)
        await bench.goesOut("TEMP")
        await bench.comesIn("OK", "PUMP:OFF", "TEMP:34.5")
        await bench.goesOut("ON")
        await bench.comesIn("OK", "PUMP:ON")
        #expect(await on.value == .success(.on))
        #expect(await bench.session.state.power == .on)
        await bench.finish(heard: [.now("OK"), .now("PUMP:OFF")])
    }

    @Test func `A blocked carrier holds only one OFF, even after its timeout`() async throws {
        let bench = try await SessionBench(hasPast: false)
        bench.link.holdSends()
        let attempt = bench.begin(.off, timeout: .seconds(1))
        await bench.goesOut("OFF")
        await bench.pass(until: Self.interval)
        await bench.pass(until: Self.interval * 2)
        #expect(await attempt.value.code == .noAnswer)
        #expect(bench.link.heldSendCount == 1)
        #expect(bench.link.unreadSent == [])
        bench.link.releaseSends()
        await bench.finish()
    }

    @Test func `A lost link ends OFF`() async throws {
        let bench = try await SessionBench(hasPast: false)
        let attempt = bench.begin(.off)
        await bench.goesOut("OFF")
        await bench.link.end(with: SessionBench.gone)
        #expect(
            await attempt.value
                == .failure(SessionError(.linkLost, command: "OFF", outcome: .unknown, link: SessionBench.gone)))
        await bench.finish(heard: [.lost(SessionBench.gone)])
    }

    @Test func `A pump has a stop and an LED board has none`() {
        #expect(PumpFamily.stop?.bytes == Array("\nOFF\n".utf8))
        #expect(LEDFamily.stop == nil)
    }
}
