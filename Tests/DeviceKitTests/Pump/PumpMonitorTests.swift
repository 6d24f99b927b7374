import DeviceKit
import DeviceTestKit
import LineProtocol
import RecordFormat
import TestSupport
import Testing
import Transports

@Suite("The pump monitor", .timeLimit(.minutes(5)))
struct PumpMonitorTests {
    private static let off = "STATUS:{State:OFF,WaterTemp:12.0C,SkinTemp:34.5C}"
    private static let on = "STATUS:{State:ON,Speed:70%,WaterTemp:12.0C,SkinTemp:34.5C}"
    private static let hot = "STATUS:{State:ON,Speed:70%,WaterTemp:12.0C,SkinTemp:46.0C}"

    private let clock = ManualClock()
    private let link = ScriptedLink()

    private func monitor(open: @escaping Reconnector.Opener = { _ in throw CancellationError() }) async throws
        -> PumpMonitor
    {
        let reconnector = Reconnector(try Endpoint("tcp:bench:4000"), link, clock: clock, open: open)
        return try await PumpMonitor(
            over: link, reconnector, timeout: .seconds(3), clock: clock, executor: link.executor)
    }

    /// Delivers lines of the pump.
    private func comesIn(_ lines: String...) async { await link.deliver(lines.map { $0 + "\r\n" }.joined()) }

    @Test("The monitor polls at once and at intervals, and reports unsolicited lines")
    func polls() async throws {
        let monitor = try await monitor()
        var updates = monitor.makeAsyncIterator()
        for (second, answer) in [Self.off, Self.on].enumerated() {
            #expect(await link.nextSent() == "STATUS\n")
            await comesIn(answer)
            let update = try #require(try await updates.next())
            guard case .status = update.event else {
                Issue.record("\(update)")
                return
            }
            #expect(update.state.power == (answer == Self.on ? .on : .off))
            // Polls are 5 s apart.
            await clock.untilSomebodySleeps(until: .seconds(second * 5 + 5))
            clock.advance(by: .seconds(5))
        }
        #expect(await link.nextSent() == "STATUS\n")
        await comesIn("MANUAL:OFF")
        guard case .heard(.manual(isOn: false)) = try await updates.next()?.event else {
            Issue.record("no button")
            return
        }
        await monitor.close()
        await monitor.close()
        #expect(link.closeCount == 1)
        await #expect(throws: CancellationError.self) { while try await updates.next() != nil {} }
    }

    @Test(
        "After a button press the pump is polled at once, and only a status says that it is off",
        arguments: ["MANUAL:OFF", "PUMP:OFF"])
    func asksBehindButton(line: String) async throws {
        let monitor = try await monitor()
        var updates = monitor.makeAsyncIterator()
        #expect(await link.nextSent() == "STATUS\n")
        await comesIn(Self.on)
        #expect(try await updates.next()?.state.power == .on)
        await comesIn(line)
        #expect(try await updates.next()?.state.power == .unknown)
        #expect(await link.nextSent() == "STATUS\n")
        await comesIn(Self.off)
        #expect(try await updates.next()?.state.power == .off)
        await monitor.close()
    }

    @Test("Breaking out of the loop ends the monitor, even while it is referenced")
    func brokenOff() async throws {
        let monitor = try await monitor()
        #expect(await link.nextSent() == "STATUS\n")
        await comesIn(Self.on)
        for try await update in monitor {
            #expect(update.state.power == .on)
            break
        }
        // The link is closed, and no further poll is scheduled.
        await link.untilClosed()
        await settle()
        clock.advance(by: .seconds(5))
        await settle()
        #expect(link.unreadSent == [])
        await monitor.close()
        #expect(link.closeCount == 1)
    }

    @Test("The monitor goes on while only its iterator is referenced")
    func onlyTheReader() async throws {
        var updates = try await monitor().makeAsyncIterator()
        #expect(await link.nextSent() == "STATUS\n")
        await settle()
        let before = RecordTime.now
        await comesIn(Self.on)
        let update = try #require(try await updates.next())
        #expect(update.state.power == .on)
        #expect(before <= update.time && update.time <= .now)
        #expect(link.closeCount == 0)
    }

    @Test("While the pump does not answer, its state is unknown")
    func silence() async throws {
        let monitor = try await monitor()
        var updates = monitor.makeAsyncIterator()
        #expect(await link.nextSent() == "STATUS\n")
        await comesIn(Self.on)
        #expect(try await updates.next()?.state.power == .on)
        await clock.untilSomebodySleeps(until: .seconds(5))
        clock.advance(by: .seconds(5))
        // The query is sent a second time after half of its timeout.
        for time in [1500, 3000] {
            #expect(await link.nextSent() == "STATUS\n")
            await clock.untilSomebodySleeps(until: .seconds(5) + .milliseconds(time))
            clock.advance(by: .milliseconds(1500))
        }
        let update = try #require(try await updates.next())
        guard case .unanswered(let error) = update.event else {
            Issue.record("\(update)")
            return
        }
        #expect(error.code == .noAnswer)
        #expect(update.state == PumpState())
        #expect(update.isLinkUp)
        // The pump's next line says nothing about its earlier state.
        await comesIn("MANUAL:ON")
        let pressed = try #require(try await updates.next())
        #expect(pressed.state.power == .on)
        #expect(pressed.state.temperatures == PumpTemperatures())
        #expect(pressed.state.speedPercent == nil)
        await monitor.close()
    }

    @Test("A skin sensor fault is reported once while the pump runs")
    func skin() async throws {
        let monitor = try await monitor()
        var updates = monitor.makeAsyncIterator()
        #expect(await link.nextSent() == "STATUS\n")
        await comesIn(Self.hot, Self.hot)
        var events: [String] = []
        for _ in 0..<3 {
            events.append(try await updates.next().map { "\($0.event)".prefix { $0 != "(" } }.map(String.init) ?? "")
        }
        #expect(events.sorted() == ["alarm", "status", "status"])
        await monitor.close()
    }

    @Test("State and skin temperature come first in the status line")
    func phrases() {
        var state = PumpState()
        for line in ["SPEED:180", Self.on] { state.apply(PumpMessage(line: Array(line.utf8).span)) }
        #expect(
            PumpFamily.phrases(of: state) == ["on", "skin 34.5 °C", "70 % (PWM 180)", "water 12.0 °C", "by app"])
        state.apply(PumpMessage(line: Array("STATUS:{State:OFF,WaterTemp:12.0C,SkinTemp:34.5°C}".utf8).span))
        #expect(
            PumpFamily.phrases(of: state)
                == ["off", "skin unknown (the pump says '34.5°C')", "water 12.0 °C", "by app"])
    }

    @Test("A lost pump is waited for, and its previous state is reported")
    func lost() async throws {
        // The new session queries TEMP until the pump replies, and then STATUS.
        let second = ScriptedLink { $0 == "TEMP\n" ? "TEMP:34.5\r\n" : Self.off + "\r\n" }
        let monitor = try await monitor { _ in second }
        var updates = monitor.makeAsyncIterator()
        #expect(await link.nextSent() == "STATUS\n")
        await comesIn(Self.on)
        _ = try await updates.next()
        await link.end(with: LinkError(.disconnected, name: "scripted", activity: "receive"))
        let loss = try #require(try await updates.next())
        guard case .lost(let error) = loss.event else {
            Issue.record("\(loss)")
            return
        }
        #expect(error.code == .disconnected)
        #expect(!loss.isLinkUp)
        #expect(loss.state == PumpState())
        let back = try #require(try await updates.next())
        guard case .back(let before) = back.event else {
            Issue.record("\(back)")
            return
        }
        #expect(before.power == .on)
        #expect(back.state.power == .off)
        await monitor.close()
    }

    @Test("A server that has lost the pump is no lost link: the pump counts as unanswered")
    func awayBehindServer() async throws {
        let second = ScriptedLink { _ in "ERROR:DEVICE_AWAY\r\n" }
        let monitor = try await monitor { _ in second }
        var updates = monitor.makeAsyncIterator()
        #expect(await link.nextSent() == "STATUS\n")
        await comesIn(Self.on)
        _ = try await updates.next()
        await link.end(with: LinkError(.disconnected, name: "scripted", activity: "receive"))
        _ = try await updates.next()
        let update = try #require(try await updates.next())
        guard case .unanswered(let error) = update.event else {
            Issue.record("\(update)")
            return
        }
        #expect(error.code == .deviceAway)
        #expect(update.isLinkUp && second.closeCount == 0)
        await monitor.close()
    }

    @Test("A link closed by another owner counts as lost and is opened again")
    func closed() async throws {
        let second = ScriptedLink { $0 == "TEMP\n" ? "TEMP:34.5\r\n" : Self.off + "\r\n" }
        let monitor = try await monitor { _ in second }
        var updates = monitor.makeAsyncIterator()
        #expect(await link.nextSent() == "STATUS\n")
        await link.close()
        var events: [String] = []
        while events.last != "back", let update = try await updates.next() {
            events.append(String("\(update.event)".prefix { $0 != "(" }))
        }
        #expect(events == ["lost", "back"])
        await monitor.close()
    }

    @Test("A permanent error ends the monitor")
    func gone() async throws {
        let gone = LinkError(.unsupported, name: "scripted", activity: "open")
        let monitor = try await monitor { _ in throw gone }
        #expect(await link.nextSent() == "STATUS\n")
        await link.end(with: LinkError(.disconnected, name: "scripted", activity: "receive"))
        let error = await #expect(throws: LinkError.self) { for try await _ in monitor {} }
        #expect(error == gone)
    }
}
