import DeviceKit
import DeviceTestKit
import LineProtocol
import TestSupport
import Testing

@Suite("Timed pump runs", .timeLimit(.minutes(5)))
struct PumpRunTests {
    private static let on = "STATUS:{State:ON,Speed:70%,WaterTemp:12.0C,SkinTemp:34.5C}"
    private static let off = "STATUS:{State:OFF,WaterTemp:12.0C,SkinTemp:34.5C}"
    private static let hot = "STATUS:{State:ON,Speed:70%,WaterTemp:12.0C,SkinTemp:46.0C}"

    /// A run whose pump is played by the test, and whose clock stands still, so that no poll is due.
    private struct Run {
        let link = ScriptedLink()
        let task: Task<Void, any Error>

        /// Starts a run and switches its pump on.
        init(
            time: Duration = .seconds(600),
            reopen: @escaping @Sendable () async throws -> any Link = { throw CancellationError() }
        ) async throws {
            let clock = ManualClock()
            let session = PumpSession(link: link, clock: clock)
            try await session.start()
            let run = PumpRun(
                PumpRun.Plan(time: time), timeout: .seconds(3), clock: clock, executor: link.executor, reopen: reopen)
            task = Task { try await run.run(session) }
            await goesOut("\nON\n", answer: "OK", "PUMP:ON")
            await goesOut("TEMP\n", answer: "TEMP:34.5")
            await goesOut("STATUS\n", answer: PumpRunTests.on)
        }

        /// Delivers lines of the pump.
        func comesIn(_ lines: String...) async { await link.deliver(lines.map { $0 + "\r\n" }.joined()) }

        /// Expects `text` as the next sent text, and delivers the reply.
        func goesOut(
            _ text: String, answer lines: String..., sourceLocation: SourceLocation = #_sourceLocation
        ) async {
            #expect(await link.nextSent() == text, sourceLocation: sourceLocation)
            await link.deliver(lines.map { $0 + "\r\n" }.joined())
        }

        /// Plays the switching off, and returns the error of the run.
        func error() async -> PumpRunError? {
            await goesOut("\nOFF\n", answer: "OK", "PUMP:OFF")
            await goesOut("TEMP\n", answer: "TEMP:34.5")
            await goesOut("STATUS\n", answer: PumpRunTests.off)
            let error = await #expect(throws: PumpRunError.self) { try await task.value }
            #expect(error?.aftermath == .off)
            return error
        }
    }

    @Test("A pump that reports OFF is polled at once, and then the run ends", arguments: [off, "PUMP:OFF"])
    func foundOff(line: String) async throws {
        let run = try await Run()
        await run.comesIn(line)
        await run.goesOut("STATUS\n", answer: Self.off)
        guard case .foundOff = await run.error()?.cause else {
            Issue.record("another cause")
            return
        }
    }

    @Test("A skin sensor fault is polled once more, and then the run ends")
    func skin() async throws {
        let run = try await Run()
        await run.comesIn(Self.hot)
        await run.goesOut("STATUS\n", answer: Self.hot)
        guard case .skin(.outOfRange, _) = await run.error()?.cause else {
            Issue.record("another cause")
            return
        }
    }

    @Test("A pump whose status names no state is polled, and switched off at the third such answer")
    func unreadable() async throws {
        let run = try await Run()
        let status = "STATUS:{Speed:70%,WaterTemp:12.0C,SkinTemp:34.5C}"
        for _ in 0..<PumpRun.unansweredLimit {
            await run.comesIn(status)
            await run.goesOut("STATUS\n", answer: status)
        }
        guard case .failed(let error) = await run.error()?.cause else {
            Issue.record("another cause")
            return
        }
        #expect(error.code == .notUnderstood)
    }

    @Test("A closed session ends the run, and the pump is switched off over a new link")
    func closed() async throws {
        let pump = Watched(Pump())
        let second = ScriptedLink { sent in pump.update { $0.answer(to: sent) } }
        let run = try await Run(reopen: { second })
        await run.link.close()
        let error = await #expect(throws: PumpRunError.self) { try await run.task.value }
        #expect(error?.aftermath == .off)
        guard case .lost(let loss) = error?.cause else {
            Issue.record("another cause")
            return
        }
        #expect(loss.code == .closed)
    }

    @Test(
        "A server that loses the pump ends the run, and OFF goes over a new link",
        arguments: [true, false])
    func lostByServer(isTold: Bool) async throws {
        // A server of `pumpctl serve` announces the loss to its clients, or refuses the next command.
        let pump = Watched(Pump())
        let second = ScriptedLink { sent in pump.update { $0.answer(to: sent) } }
        let run = try await Run(reopen: { second })
        if isTold {
            await run.comesIn("[WARNING] the device is away")
        } else {
            await run.comesIn(Self.off)
            await run.goesOut("STATUS\n", answer: "ERROR:DEVICE_AWAY")
        }
        let error = await #expect(throws: PumpRunError.self) { try await run.task.value }
        #expect(error?.aftermath == .off)
        #expect(run.link.closeCount == 1)
        guard case .lost(let loss) = error?.cause else {
            Issue.record("another cause")
            return
        }
        #expect(loss.code == .disconnected)
    }

    @Test("A server that loses the pump during ON ends the run, and OFF goes over a new link")
    func lostByServerAtOn() async throws {
        let pump = Watched(Pump(isOn: true))
        let second = ScriptedLink { sent in pump.update { $0.answer(to: sent) } }
        let (clock, link) = (ManualClock(), ScriptedLink())
        let session = PumpSession(link: link, clock: clock)
        try await session.start()
        let run = PumpRun(
            PumpRun.Plan(time: .seconds(600)), timeout: .seconds(3), clock: clock, executor: link.executor
        ) { second }
        let task = Task { try await run.run(session) }
        #expect(await link.nextSent() == "\nON\n")
        await link.deliver("[WARNING] the device is away\r\n")
        await clock.untilSomebodySleeps(until: .seconds(3))
        clock.advance(by: .seconds(3))
        // ON is unanswered, so a refusal may answer ON. OFF is repeated every 250 ms until its timeout of 3 s.
        for _ in 0..<12 {
            #expect(await link.nextSent() == "\nOFF\n")
            await link.deliver("ERROR:DEVICE_AWAY\r\n")
            let end = clock.now.offset + .milliseconds(250)
            await clock.untilSomebodySleeps(until: end)
            clock.advance(by: .milliseconds(250))
        }
        let error = await #expect(throws: PumpRunError.self) { try await task.value }
        #expect(error?.aftermath == .off)
        #expect(!pump.state.isOn)
    }

    @Test("A pump that cannot return is reported as perhaps on, without a wait for it")
    func neverBack() async throws {
        let gone = LinkError(.disconnected, name: "scripted", activity: "open")
        let run = try await Run(reopen: { throw gone })
        await run.link.end(with: LinkError(.disconnected, name: "scripted", activity: "receive"))
        let error = await #expect(throws: PumpRunError.self) { try await run.task.value }
        #expect(error?.aftermath == .perhapsOn)
        guard case .goneForGood(gone) = error?.cause else {
            Issue.record("another cause")
            return
        }
    }

    /// Runs the pump for 1 s, and expects the run to go on for `tenths` of a second in spite of that, because OFF is not
    /// confirmed. Then changes the pump so that it confirms OFF.
    ///
    /// - Returns: The result of the run.
    private func runUntilOff(
        _ pump: Watched<Pump>, tenths: Int, change: @escaping @Sendable (inout Pump) -> Void,
        tell: @escaping @Sendable (PumpRun.Report) -> Void = { _ in }
    ) async throws -> Result<Void, any Error> {
        let clock = ManualClock()
        let link = ScriptedLink { sent in pump.update { $0.answer(to: sent) } }
        let session = PumpSession(link: link, clock: clock)
        try await session.start()
        let run = PumpRun(
            PumpRun.Plan(time: .seconds(1)), timeout: .seconds(3), clock: clock, executor: link.executor,
            reopen: { throw CancellationError() }, tell: tell)
        let isOver = Watched(false)
        let task = Task {
            defer { isOver.update { $0 = true } }
            try await run.run(session)
        }
        for _ in 0..<tenths {
            await settle()
            clock.advance(by: .milliseconds(100))
        }
        #expect(!isOver.state)
        pump.update(change)
        for _ in 0..<90 where !isOver.state {
            await settle()
            clock.advance(by: .milliseconds(100))
        }
        defer { #expect(!pump.state.isOn) }
        return await task.result
    }

    @Test("OFF is repeated until a silent pump answers, and the silence is reported")
    func silence() async throws {
        let (pump, told) = (Watched(Pump()), Watched<[String]>([]))
        // The run's time is over after 1 s, so the first OFF times out at 4 s and is reported. In 9 s OFF is repeated
        // several times.
        let result = try await runUntilOff(pump, tenths: 90) {
            $0.isSilent = false
        } tell: { report in
            switch report {
            case .on: pump.update { $0.isSilent = true }
            case .off: told.update { $0.append("off") }
            case .offUnanswered(let error): told.update { $0.append("\(error.code)") }
            case .overrun: told.update { $0.append("late") }
            case .begins, .runs, .lost, .leftAlone: break
            }
        }
        try result.get()
        #expect(told.state == ["noAnswer", "off", "late"])
    }

    @Test("A pump that acknowledges OFF but keeps running gets OFF until it is off")
    func ignoredOff() async throws {
        let told = Watched<[String]>([])
        // 20 s: the run's 1 s, and time for several OFF.
        let result = try await runUntilOff(Watched(Pump(ignoresOff: true)), tenths: 200) {
            $0.ignoresOff = false
        } tell: { report in
            switch report {
            case .off: told.update { $0.append("off") }
            case .offUnanswered(let error): told.update { $0.append("\(error)") }
            case .overrun(let time): told.update { $0.append("late \(time > .seconds(15))") }
            case .begins, .on, .runs, .lost, .leftAlone: break
            }
        }
        try result.get()
        #expect(told.state == ["the device acknowledged OFF, but its status says ON", "off", "late true"])
    }

    @Test("OFF is repeated until the pump answers, also after an ON that was not acknowledged")
    func silentFromTheBeginning() async throws {
        // 20 s: ON and the first OFF have no answer in 3 s each.
        let result = try await runUntilOff(Watched(Pump(isSilent: true)), tenths: 200) { $0.isSilent = false }
        let error = #expect(throws: PumpRunError.self) { try result.get() }
        #expect(error?.aftermath == .off)
    }

    @Test("A link that refuses to send ends the run at once, because it would refuse each OFF")
    func refusedSends() async throws {
        let (clock, link) = (ManualClock(), ScriptedLink())
        let session = PumpSession(link: link, clock: clock)
        try await session.start()
        link.failSends(with: LinkError(.notPermitted, name: "scripted", activity: "send"))
        let run = PumpRun(
            PumpRun.Plan(time: .seconds(1)), timeout: .seconds(3), clock: clock, executor: link.executor,
            reopen: { throw CancellationError() })
        let error = await #expect(throws: PumpRunError.self) { try await run.run(session) }
        #expect(error?.aftermath == .perhapsOn)
    }

    @Test("A board reset in a run shorter than the poll interval is detected")
    func resetInShortRun() async throws {
        let (clock, pump) = (ManualClock(), Watched(Pump()))
        let link = ScriptedLink { sent in pump.update { $0.answer(to: sent) } }
        let session = PumpSession(link: link, clock: clock)
        try await session.start()
        let run = PumpRun(
            PumpRun.Plan(time: PumpRun.pollInterval), timeout: .seconds(3), clock: clock, executor: link.executor,
            reopen: { throw CancellationError() })
        let isOver = Watched(false)
        let task = Task {
            defer { isOver.update { $0 = true } }
            try await run.run(session)
        }
        // The run lasts for 5 s, the poll interval, and the pump restarts after half of it. 9 s include the OFF.
        for tenth in 0..<90 where !isOver.state {
            await settle()
            if tenth == 25 { pump.update { $0.isOn = false } }
            clock.advance(by: .milliseconds(100))
        }
        let error = await #expect(throws: PumpRunError.self) { try await task.value }
        guard case .foundOff = error?.cause else {
            Issue.record("another cause")
            return
        }
    }

    /// Starts a run whose pump goes silent after ON, and returns when OFF was sent or `time` is over.
    ///
    /// - Parameter unasked: A line that the pump sends after each unanswered poll; nil for none.
    /// - Returns: The time of the first OFF, nil if OFF was not sent; and the run, the pump and the clock.
    private func silentRun(
        for time: Duration, unasked: String? = nil
    ) async throws -> (off: Duration?, task: Task<Void, any Error>, pump: Watched<Pump>, clock: ManualClock) {
        let (clock, pump, lastSent) = (ManualClock(), Watched(Pump()), Watched<(String, Duration)>(("", .zero)))
        let firstOff = Watched<Duration?>(nil)
        let link = ScriptedLink { sent in
            let now = clock.now.offset
            lastSent.update { $0 = (sent, now) }
            if sent == "\nOFF\n" { firstOff.update { $0 = $0 ?? now } }
            return pump.update { $0.answer(to: sent) }
        }
        let session = PumpSession(link: link, clock: clock)
        try await session.start()
        let run = PumpRun(
            PumpRun.Plan(time: .seconds(600)), timeout: .seconds(3), clock: clock, executor: link.executor,
            reopen: { throw CancellationError() }
        ) { report in
            if case .on = report { pump.update { $0.isSilent = true } }
        }
        let task = Task { try await run.run(session) }
        while clock.now.offset < time, firstOff.state == nil {
            await settle()
            // A poll is sent a second time after 1.5 s and times out after 3 s. 3.2 s after it was last sent, it has
            // timed out, and the next one is not due yet.
            if let unasked, clock.now.offset - lastSent.state.1 == .milliseconds(3200) {
                await link.deliver(unasked + "\r\n")
            }
            clock.advance(by: .milliseconds(100))
        }
        return (firstOff.state, task, pump, clock)
    }

    @Test("After three unanswered polls OFF is sent until the pump answers")
    func unanswered() async throws {
        let (off, task, pump, clock) = try await silentRun(for: .seconds(60))
        // Each poll begins 5 s after the end of the previous one.
        #expect(try #require(off) >= .seconds(3 * 5), "one poll or two may be lost")
        pump.update { $0.isSilent = false }
        let isOver = Watched(false)
        let ending = Task {
            defer { isOver.update { $0 = true } }
            try await task.value
        }
        for _ in 0..<90 where !isOver.state {
            await settle()
            clock.advance(by: .milliseconds(100))
        }
        if !isOver.state { task.cancel() }
        let error = await #expect(throws: PumpRunError.self) { try await ending.value }
        #expect(error?.aftermath == .off)
        guard case .failed(let reason) = error?.cause else {
            Issue.record("another cause")
            return
        }
        #expect(reason.code == .noAnswer)
        #expect(reason.command == "STATUS")
        #expect(!pump.state.isOn)
    }

    @Test("A pump that answers no poll but reports good values keeps running", arguments: [on, "TEMP:34.5"])
    func unasked(line: String) async throws {
        let (off, task, pump, clock) = try await silentRun(for: .seconds(120), unasked: line)
        #expect(off == nil)
        pump.update { $0.isSilent = false }
        task.cancel()
        for _ in 0..<30 {
            await settle()
            clock.advance(by: .milliseconds(100))
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(!pump.state.isOn)
    }

    @Test("A pump that answers no poll and reports a fault is switched off")
    func unansweredAndBad() async throws {
        let (off, task, pump, clock) = try await silentRun(for: .seconds(60), unasked: Self.hot)
        #expect(off != nil)
        pump.update { $0.isSilent = false }
        if off == nil { task.cancel() }
        for _ in 0..<30 {
            await settle()
            clock.advance(by: .milliseconds(100))
        }
        await #expect(throws: PumpRunError.self) { try await task.value }
        #expect(!pump.state.isOn)
    }

    /// A pump that can be silent for a while.
    private struct Pump {
        var isOn = false
        var isSilent = false
        /// Whether the pump acknowledges OFF and keeps running.
        var ignoresOff = false

        mutating func answer(to sent: String) -> String? {
            if ["\nON\n", "\nOFF\n"].contains(sent) { isOn = sent == "\nON\n" || ignoresOff }
            guard !isSilent else { return nil }
            switch sent {
            case "\nON\n", "\nOFF\n":
                return "OK\r\nPUMP:\(sent == "\nON\n" ? "ON" : "OFF")\r\n"
            case "TEMP\n": return "TEMP:34.5\r\n"
            case "STATUS\n": return "\(isOn ? PumpRunTests.on : PumpRunTests.off)\r\n"
            default: return "ERROR:UNKNOWN_COMMAND\r\n"
            }
        }
    }

    @Test("One damaged line does not end the run", arguments: [off, hot, "PUMP:OFF"])
    func damaged(line: String) async throws {
        let run = try await Run()
        await run.comesIn(line)
        await run.goesOut("STATUS\n", answer: Self.on)
        await settle()
        #expect(run.link.unreadSent == [])
        run.task.cancel()
        await run.goesOut("\nOFF\n", answer: "OK", "PUMP:OFF")
        await run.goesOut("TEMP\n", answer: "TEMP:34.5")
        await run.goesOut("STATUS\n", answer: Self.off)
        await #expect(throws: CancellationError.self) { try await run.task.value }
    }
}
