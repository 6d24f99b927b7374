import DeviceTestKit
import LineProtocol
import TestSupport
import Testing

/// After a command without a reply, or on a link with earlier input, the session sends TEMP as a fence: every line
/// before the reply to TEMP may be stale, every later one is new.
@Suite(.timeLimit(.minutes(5))) struct SessionFenceTests {
    /// A session in which `command` got no reply before its timeout of 3 s.
    func benchWithoutAnswer(to command: PumpCommand = .on) async throws -> SessionBench {
        let bench = try await SessionBench()
        let attempt = bench.begin(command)
        await bench.goesOut(command.text)
        bench.clock.advance(by: .seconds(3))
        _ = await attempt.value
        return bench
    }

    @Test func `A late reply does not answer a later command and becomes an event`() async throws {
        let bench = try await benchWithoutAnswer()
        let attempt = bench.begin(.on)
        await bench.goesOut("TEMP")
        await bench.comesIn("OK", "PUMP:ON", SessionBench.statusOn)
        #expect(await bench.session.state.power == .on)
        await bench.comesIn("TEMP:34.5")
        await bench.goesOut("ON")
        await bench.comesIn("OK", "PUMP:ON")
        #expect(await attempt.value == .success(.on))
        await bench.finish(heard: [.now("OK"), .now("PUMP:ON"), .now(SessionBench.statusOn)])
    }

    @Test func `A late status does not answer a later STATUS`() async throws {
        let bench = try await SessionBench()
        let first = bench.begin(.status)
        await bench.goesOut("STATUS")
        bench.clock.advance(by: .seconds(1.5))
        await bench.goesOut("STATUS")
        bench.clock.advance(by: .seconds(1.5))
        _ = await first.value
        let second = bench.begin(.status)
        await bench.goesOut("TEMP")
        await bench.comesIn(SessionBench.statusOn, SessionBench.statusOn, "TEMP:34.5")
        await bench.goesOut("STATUS")
        await bench.comesIn(SessionBench.statusOff)
        #expect(await second.value == .success(.status(status(SessionBench.statusOff))))
        await bench.finish(heard: [.now(SessionBench.statusOn), .now(SessionBench.statusOn)])
    }

    @Test func `After the fence commands are sent directly`() async throws {
        let bench = try await benchWithoutAnswer()
        for (index, command) in [PumpCommand.on, .speed(speed(7))].enumerated() {
            let attempt = bench.begin(command)
            if index == 0 {
                await bench.goesOut("TEMP")
                await bench.comesIn("TEMP:34.5")
            }
            await bench.goesOut(command.text)
            await bench.comesIn("OK", index == 0 ? "PUMP:ON" : "SPEED:7")
            _ = try await attempt.value.get()
        }
        await bench.finish()
    }

    @Test func `OFF is sent at once, and a late reply to ON does not answer it`() async throws {
        let bench = try await benchWithoutAnswer()
        let attempt = bench.begin(.off)
        await bench.goesOut("OFF")
        await bench.comesIn("OK", "PUMP:ON", "OK", "PUMP:OFF")
        await bench.confirmsOff()
        #expect(await attempt.value == .success(.off))
        #expect(await bench.session.state.power == .off)
        await bench.finish(heard: [.now("PUMP:ON"), .now("OK")])
    }

    @Test(arguments: [PumpCommand.on, .speed(speed(7)), .status])
    func `A command whose fence gets no reply is not sent, and the next is fenced again`(
        _ command: PumpCommand
    ) async throws {
        let bench = try await benchWithoutAnswer()
        let attempt = bench.begin(command)
        await bench.asksTwiceInVain()
        #expect(
            await attempt.value
                == .failure(SessionError(.noAnswer, command: command.text, outcome: .notSent, waited: .seconds(3))))
        let next = bench.begin(.on)
        await bench.goesOut("TEMP")
        await bench.comesIn("TEMP:34.5")
        #expect(bench.link.unreadSent == [], "it may be the late answer to the TEMP before")
        await bench.passOneSecond()
        await bench.goesOut("ON")
        await bench.comesIn("OK", "PUMP:ON")
        #expect(await next.value == .success(.on))
        await bench.finish()
    }

    @Test func `A fence whose reply is merged with a damaged line is repeated`() async throws {
        let bench = try await benchWithoutAnswer()
        let attempt = bench.begin(.on)
        await bench.goesOut("TEMP")
        await bench.link.deliver("STATUS:{State:OFF,WaterTemp:12")
        await bench.comesIn("TEMP:34.5")
        bench.clock.advance(by: .seconds(1.5))
        await bench.goesOut("TEMP")
        await bench.comesIn("TEMP:34.5")
        #expect(bench.link.unreadSent == [], "it may be the late answer to the TEMP before")
        await bench.passOneSecond()
        await bench.goesOut("ON")
        await bench.comesIn("OK", "PUMP:ON")
        #expect(await attempt.value == .success(.on))
        await bench.finish(heard: [.now("STATUS:{State:OFF,WaterTemp:12TEMP:34.5")])
    }

    @Test func `An unanswered fence is waited for only once`() async throws {
        let bench = try await benchWithoutAnswer()
        let attempt = bench.begin(.on)
        await bench.asksTwiceInVain()
        _ = await attempt.value
        for isWaitedFor in [true, false] {
            let change = bench.begin(.on)
            if !isWaitedFor { await bench.letRead() }
            await bench.goesOut("TEMP")
            await bench.comesIn("TEMP:34.5")
            if isWaitedFor { await bench.passOneSecond() }
            await bench.goesOut("ON")
            change.cancel()
            _ = await change.value
        }
        await bench.finish()
    }

    @Test func `A command cancelled at its fence is not sent, and the next is fenced again`() async throws {
        let bench = try await benchWithoutAnswer()
        let attempt = bench.begin(.on)
        await bench.goesOut("TEMP")
        attempt.cancel()
        #expect(await attempt.value == .failure(SessionError(.cancelled, command: "ON", outcome: .notSent)))
        let next = bench.begin(.on)
        await bench.letRead()
        await bench.goesOut("TEMP")
        await bench.comesIn("TEMP:34.5")
        #expect(bench.link.unreadSent == [], "it may be the late answer to the TEMP before")
        await bench.passOneSecond()
        await bench.goesOut("ON")
        await bench.comesIn("OK", "PUMP:ON")
        #expect(await next.value == .success(.on))
        await bench.finish()
    }

    @Test func `A late error for an earlier command does not refuse OFF`() async throws {
        let bench = try await benchWithoutAnswer(to: .speed(speed(7)))
        let attempt = bench.begin(.off)
        await bench.goesOut("OFF")
        await bench.comesIn("ERROR:UNKNOWN_COMMAND", "OK", "PUMP:OFF")
        await bench.confirmsOff()
        #expect(await attempt.value == .success(.off))
        await bench.finish(heard: [.now("ERROR:UNKNOWN_COMMAND")])
    }

    @Test func `A late error for an earlier command does not refuse the next command`() async throws {
        let bench = try await benchWithoutAnswer(to: .speed(speed(7)))
        let attempt = bench.begin(.on)
        await bench.goesOut("TEMP")
        await bench.comesIn("ERROR:UNKNOWN_COMMAND", "TEMP:34.5")
        await bench.goesOut("ON")
        await bench.comesIn("OK", "PUMP:ON")
        #expect(await attempt.value == .success(.on))
        await bench.finish(heard: [.now("ERROR:UNKNOWN_COMMAND")])
    }
}

extension SessionBench {
    /// Lets a fence time out after 3 s. The fence is sent a second time after half of this time.
    func asksTwiceInVain() async {
        for _ in 1...2 {
            await goesOut("TEMP")
            clock.advance(by: .seconds(1.5))
        }
    }

    /// Lets 1 s pass, the time for which the session waits for the late reply to an earlier fence.
    func passOneSecond() async {
        let end = (clock.now.offset + .seconds(1))
        await clock.untilSomebodySleeps(until: end)
        clock.advance(by: .seconds(1))
    }
}

/// Input that arrived before the session began.
@Suite(.timeLimit(.minutes(5))) struct SessionBacklogTests {
    @Test func `Earlier input sets no state, answers nothing, and the first command is fenced`() async throws {
        let bench = try await SessionBench(backlog: [SessionBench.statusOn + "\r\nOK\r\nPU", "MP:ON\r\n"])
        #expect(await bench.session.state == PumpState())
        let attempt = bench.begin(.status)
        await bench.goesOut("TEMP")
        await bench.comesIn("TEMP:34.5")
        await bench.goesOut("STATUS")
        await bench.comesIn(SessionBench.statusOff)
        #expect(await attempt.value == .success(.status(status(SessionBench.statusOff))))
        #expect(await bench.session.state.power == .off)
        await bench.finish(heard: [.before(SessionBench.statusOn), .before("OK"), .before("PUMP:ON")])
    }

    @Test func `Without earlier input the first command is sent directly`() async throws {
        let bench = try await SessionBench(backlog: [])
        let attempt = bench.begin(.on)
        await bench.goesOut("ON")
        await bench.comesIn("OK", "PUMP:ON")
        #expect(await attempt.value == .success(.on))
        await bench.finish()
    }

    @Test func `OFF is not fenced after earlier input`() async throws {
        let bench = try await SessionBench(backlog: ["PUMP:ON\r\n"])
        let attempt = bench.begin(.off)
        await bench.goesOut("OFF")
        await bench.comesIn("OK", "PUMP:OFF")
        await bench.confirmsOff()
        #expect(await attempt.value == .success(.off))
        await bench.finish(heard: [.before("PUMP:ON")])
    }

    @Test func `A link lost at the first read ends the session`() async throws {
        let link = ScriptedLink()
        await link.end(with: SessionBench.gone)
        let session = PumpSession(link: link, clock: ManualClock())
        let events = await session.events()
        await #expect(
            throws: SessionError(.linkLost, command: "the first read", outcome: .notSent, link: SessionBench.gone)
        ) { try await session.start() }
        #expect(await SessionBench.all(events) == [.lost(SessionBench.gone)])
        await session.close()
    }

    @Test(arguments: [5, 30, SessionBench.statusOn.count])
    func `A line begun before the session sets no state, wherever it was split`(cut: Int) async throws {
        let line = SessionBench.statusOn
        let bench = try await SessionBench(backlog: [String(line.prefix(cut))])
        await bench.comesIn(String(line.dropFirst(cut)))
        #expect(await bench.session.state == PumpState())
        await bench.comesIn(SessionBench.statusOff)
        #expect(await bench.session.state.power == .off)
        await bench.finish(heard: [.before(line), .now(SessionBench.statusOff)])
    }

    @Test func `A line begun before the session does not pass the fence`() async throws {
        let bench = try await SessionBench(backlog: ["TEMP:39"])
        let attempt = bench.begin(.temperature)
        await bench.goesOut("TEMP")
        await bench.comesIn(".9", "TEMP:34.5")
        await bench.goesOut("TEMP")
        await bench.comesIn("TEMP:34.6")
        #expect(
            await attempt.value
                == .success(.temperatures(PumpTemperatures(single: ThermistorReading(celsius: 34.6)))))
        await bench.finish(heard: [.before("TEMP:39.9")])
    }

    @Test func `A command started during the session's start waits for it`() async throws {
        let link = ScriptedLink()
        let session = PumpSession(link: link, clock: ManualClock())
        link.holdFirstRead()
        let start = Task.immediate { try await session.start() }
        await link.untilFirstReadIsHeld()
        let attempt = Task.immediate { try await session.readTemperatures() }
        _ = await session.state
        #expect(link.unreadSent == [])
        await link.deliver("TEMP:39.9\r\n")
        link.releaseFirstRead()
        try await start.value
        #expect(await link.nextSent() == "TEMP\n")
        await link.deliver("TEMP:34.5\r\n")
        #expect(await link.nextSent() == "TEMP\n")
        await link.deliver("TEMP:34.6\r\n")
        #expect(try await attempt.value.single?.celsius == 34.6)
        await session.close()
    }
}
