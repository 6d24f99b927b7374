import DeviceKit
import DeviceTestKit
import LineProtocol
import RecordFormat
import TestSupport
import Testing
import Transports

@Suite("The monitor of any family", .timeLimit(.minutes(5)))
struct FamilyMonitorTests {
    private let clock = ManualClock()
    private let link = ScriptedLink()

    private func monitor(
        _ family: Family, open: @escaping Reconnector.Opener = { _ in throw CancellationError() }
    ) async throws -> FamilyMonitor {
        let reconnector = Reconnector(try Endpoint("tcp:bench:4000"), link, clock: clock, open: open)
        let follow = try #require(family.wire.follow)
        return try await follow(
            link, reconnector, FamilyMonitor.Options(timeout: .seconds(3), clock: clock, executor: link.executor))
    }

    /// Delivers lines of the device.
    private func comesIn(_ lines: String...) async { await link.deliver(lines.map { $0 + "\r\n" }.joined()) }

    /// Lets a query and its retry time out, after 3 s together.
    ///
    /// - Parameter second: The time in seconds at which the query is sent. The clock must still be at zero.
    private func letPass(_ question: String, at second: Int) async {
        await clock.untilSomebodySleeps(until: .seconds(second))
        clock.advance(by: .seconds(second))
        // The query is sent twice.
        for time in [1500, 3000] {
            #expect(await link.nextSent() == question)
            await clock.untilSomebodySleeps(until: .seconds(second) + .milliseconds(time))
            clock.advance(by: .milliseconds(1500))
        }
    }

    @Test("JSON has all keys of the family, with null for unknown or implausible values")
    func json() throws {
        var update = try #require(
            FamilyUpdate(
                DeviceUpdate<ScaleFamily>(event: .status, state: .init(), time: RecordTime(milliseconds: 0))))
        let start = #"{"event":"status","link":"up","sensor_faults":"#
        let end = #""text":null,"time":"1970-01-01T00:00:00.000Z","weight_g":"#
        #expect(try sortedJSON(update) == start + "[]," + end + "null}")
        update.values = ["weight_g": .number(123.5)]
        #expect(try sortedJSON(update) == start + "[]," + end + "123.5}")
        update.values = ["weight_g": .number(-1)]
        #expect(try sortedJSON(update) == start + #"["weight_g"],"# + end + "null}")
        update.family.state[0].unknownWord = "unknown"
        (update.values, update.isLinkUp) = ([:], false)
        let json = try sortedJSON(update)
        #expect(json.contains(#""link":"lost""#) && json.contains(#""weight_g":"unknown""#))
    }

    @Test("Values are reported under the keys that their family has in the table")
    func values() async throws {
        let monitor = try await monitor(ScaleFamily.row)
        var updates = monitor.makeAsyncIterator()
        #expect(await link.nextSent() == "WEIGH\n")
        await comesIn("WEIGHT:123.4")
        let update = try #require(try await updates.next())
        #expect(update.name == "status")
        #expect(update.text == nil)
        #expect(update.values == ["weight_g": .number(123.4)])
        #expect(update.phrases == ["weight 123.4 g"])
        #expect(update.isLinkUp)
        #expect(Reading(update.values, of: update.family).json == #"{"weight_g":123.4}"#)
        await comesIn("OVERLOAD", "good morning")
        let event = try #require(try await updates.next())
        #expect(event.name == "overload")
        #expect(event.text == "OVERLOAD")
        let text = try #require(try await updates.next())
        #expect(text.name == "text")
        #expect(text.text == "good morning")
        await monitor.close()
        #expect(link.closeCount == 1)
        await #expect(throws: CancellationError.self) { while try await updates.next() != nil {} }
    }

    @Test("An out-of-range number is a sensor fault and is recorded as null")
    func fault() async throws {
        let monitor = try await monitor(ScaleFamily.row)
        var updates = monitor.makeAsyncIterator()
        #expect(await link.nextSent() == "WEIGH\n")
        await comesIn("WEIGHT:-7.0")
        let update = try #require(try await updates.next())
        #expect(update.sensorFaults == ["weight_g"])
        #expect(update.phrases == ["weight sensor fault (reads -7.0 g)"])
        #expect(Reading(update.values, of: update.family).json == #"{"weight_g":null}"#)
        await monitor.close()
    }

    @Test("After a silence the earlier values are forgotten")
    func silence() async throws {
        let monitor = try await monitor(ScaleFamily.row)
        var updates = monitor.makeAsyncIterator()
        #expect(await link.nextSent() == "WEIGH\n")
        await comesIn("WEIGHT:50")
        #expect(try await updates.next()?.values == ["weight_g": .number(50)])
        await letPass("WEIGH\n", at: 5)
        let silence = try #require(try await updates.next())
        #expect(silence.name == "no_answer")
        #expect(silence.text == "no answer to WEIGH in 3 s")
        #expect(silence.values == [:])
        #expect(!silence.isStateKnown)
        await comesIn("OVERLOAD")
        let event = try #require(try await updates.next())
        #expect(event.name == "overload")
        #expect(event.values == [:])
        #expect(event.phrases == ["weight unknown"])
        await monitor.close()
    }

    @Test("After a restart the earlier values are forgotten")
    func restart() async throws {
        let monitor = try await monitor(ScaleFamily.row)
        var updates = monitor.makeAsyncIterator()
        #expect(await link.nextSent() == "WEIGH\n")
        await comesIn("WEIGHT:50", "READY", "OVERLOAD")
        #expect(try await updates.next()?.values == ["weight_g": .number(50)])
        #expect(try await updates.next()?.values == [:])
        await monitor.close()
    }

    @Test("An LED board is monitored through a lost link, and a changed state is reported")
    func led() async throws {
        let second = ScriptedLink { _ in "LED:0\n" }
        let monitor = try await monitor(.led) { _ in second }
        var updates = monitor.makeAsyncIterator()
        #expect(await link.nextSent() == "LED\n")
        await comesIn("LED:1")
        let update = try #require(try await updates.next())
        #expect(update.values == ["led": .boolean(true)])
        #expect(update.phrases == ["LED on"])
        await link.end(with: LinkError(.disconnected, name: "scripted", activity: "receive"))
        let loss = try #require(try await updates.next())
        #expect(loss.name == "lost")
        #expect(!loss.isLinkUp)
        #expect(loss.values == [:])
        #expect(loss.phrases == ["LED unknown"])
        let back = try #require(try await updates.next())
        #expect(back.name == "back")
        #expect(back.text == "LED was on and is off")
        #expect(back.values == ["led": .boolean(false)])
        await monitor.close()
    }

    @Test("Pump values are fields of its family, and its button and errors are named events")
    func pump() async throws {
        let monitor = try await monitor(.pump)
        var updates = monitor.makeAsyncIterator()
        #expect(await link.nextSent() == "STATUS\n")
        await comesIn("STATUS:{State:ON,Speed:70%,Runtime:15m,Remaining:15m,WaterTemp:12.0C,SkinTemp:46.0C}")
        let alarm = try #require(try await updates.next())
        #expect(alarm.name == "sensor_fault")
        #expect(alarm.text?.hasPrefix("the skin sensor reads 46.0 °C") == true)
        let update = try #require(try await updates.next())
        #expect(update.values["runtime_progress"] == .number(0.5))
        #expect(Set(update.values.keys).isSubset(of: Family.pump.state.map(\.key)))
        await comesIn("MANUAL:OFF", "ERROR:OVERHEAT")
        let manual = try #require(try await updates.next())
        #expect(manual.name == "manual")
        #expect(manual.text == "MANUAL:OFF")
        #expect(manual.values["state"] == nil, "no status has said it yet")
        #expect(manual.values["speed_percent"] == nil)
        let error = try #require(try await updates.next())
        #expect(error.name == "error")
        #expect(error.text == "OVERHEAT")
        #expect(error.values["state"] == .text("error"))
        #expect(error.isUrgent && !manual.isUrgent)
        await monitor.close()
    }

    @Test("A family has a monitor if it has a state query", arguments: Family.all)
    func rows(family: Family) {
        #expect((family.wire.follow != nil) == (family.question != nil))
        #expect((family.wire.follow != nil) == !family.state.isEmpty)
    }
}
