import DeviceTestKit
import FirmwareSim
import LineProtocol
import TestSupport
import Testing

@testable import Verification

/// "Permission" is the option `mayRun`, without which a verification must not start the pump.
@Suite("Pump safety during a verification")
struct PumpSafetyTests {
    private typealias World = VerificationWorld<PumpFirmware>

    @Test("A running pump is refused, and sent nothing but STATUS", arguments: [false, true])
    func runningPump(mayRun: Bool) {
        var pump = PumpFirmware.onBench
        pump.receive(Array("ON\n".utf8), at: .zero)
        _ = pump.advance(to: .seconds(2))
        let world = World(pump, age: .seconds(2))
        let outcome = world.verify(.pump) { $0.mayRun = mayRun }
        #expect(outcome.error as? VerificationError == .running)
        #expect(world.written.allSatisfy { $0 == "STATUS\n" })
        #expect(world.device.device.state == .on)
    }

    @Test(
        "A running pump is refused, even if a stale OFF status arrives first",
        arguments: [0, 1, 10])
    func staleAnswer(milliseconds: Int) {
        var pump = PumpFirmware.onBench
        pump.receive(Array("ON\n".utf8), at: .zero)
        _ = pump.advance(to: .seconds(2))
        let world = World(pump, age: .seconds(2))
        // A status that a server has buffered, or that is in flight when the query is sent. It comes twice, because the
        // pump must report twice that it is off before it is tested.
        let stale = Array("STATUS:{State:OFF,WaterTemp:12.0C,SkinTemp:34.0C}\r\n".utf8)
        if milliseconds == 0 { world.link.arrive(stale + stale) }
        world.loop.at(.milliseconds(milliseconds)) { world.link.arrive(stale + stale) }
        let outcome = world.verify(.pump, hasStimulus: false)
        #expect(outcome.error as? VerificationError == .running)
        #expect(world.written.allSatisfy { $0 == "STATUS\n" })
        #expect(world.device.device.state == .on)
    }

    @Test("A running pump with late answers is refused, even after a stale OFF status")
    func staleAndLate() {
        var pump = PumpFirmware.onBench
        pump.receive(Array("ON\n".utf8), at: .zero)
        _ = pump.advance(to: .seconds(2))
        let world = World(pump, age: .seconds(2))
        world.onWrite = { text in
            world.loop.at(world.loop.now + .milliseconds(850)) {
                world.link.arrive(Array("STATUS:{State:ON,Speed:255,WaterTemp:12.0C,SkinTemp:34.0C}\r\n".utf8))
            }
            return nil
        }
        world.loop.at(.milliseconds(10)) {
            world.link.arrive(Array("STATUS:{State:OFF,WaterTemp:12.0C,SkinTemp:34.0C}\r\n".utf8))
        }
        let outcome = world.verify(.pump, hasStimulus: false)
        #expect(outcome.error as? VerificationError == .running)
        #expect(world.written.allSatisfy { $0 == "STATUS\n" })
    }

    @Test("A stale ON status does not prevent testing a pump that is off")
    func staleRunning() throws {
        let world = World(.onBench)
        world.link.arrive(Array("STATUS:{State:ON,Speed:255,WaterTemp:12.0C,SkinTemp:34.0C}\r\n".utf8))
        let verdict = try #require(world.verify(.pump, hasStimulus: false) { $0.mayRun = false }.verdict)
        #expect(verdict.failures.isEmpty)
    }

    @Test("A pump stopped for safety is refused and keeps its error state")
    func stoppedPump() {
        var pump = PumpFirmware.onBench
        pump.receive(Array("ON\n".utf8), at: .zero)
        pump.setSkinTemperature(42)
        _ = pump.advance(to: .seconds(2))
        pump.setSkinTemperature(34)
        let world = World(pump, age: .seconds(2))
        #expect(world.verify(.pump).error as? VerificationError == .stoppedForSafety)
        #expect(world.written.allSatisfy { $0 == "STATUS\n" })
        #expect(world.device.device.state == .error)
    }

    @Test("Without permission no pump is started, and checks that need it are skipped")
    func withoutLeave() throws {
        let world = World(.onBench)
        let verdict = try #require(world.verify(.pump, hasStimulus: false) { $0.mayRun = false }.verdict)
        #expect(!world.written.contains { $0.uppercased().hasPrefix("ON") })
        #expect(verdict.failures.isEmpty)
        let needy = FamilyVerification.pump.checks.filter { !$0.needs.isEmpty }.map(\.id)
        // Without a stimulus the banner check is skipped too: nothing resets the board of this world.
        #expect(verdict.skipped.filter { $0 != "pump.boot.banner" } == needy)
        #expect(world.loop.now < .seconds(45), "\(world.loop.now)")
    }

    @Test("A run with a stimulus and without permission ends within 45 s")
    func handsWithoutLeave() throws {
        let world = World(.onBench)
        let verdict = try #require(world.verify(.pump) { $0.mayRun = false }.verdict)
        #expect(verdict.isPassed)
        #expect(verdict.skipped == FamilyVerification.pump.checks.filter { $0.needs.contains(.run) }.map(\.id))
        #expect(world.loop.now < .seconds(45), "\(world.loop.now)")
    }

    @Test("With permission and without a stimulus the checks of a running pump are made")
    func withLeave() throws {
        let world = World(.onBench)
        let verdict = try #require(world.verify(.pump, hasStimulus: false).verdict)
        #expect(verdict.failures.isEmpty)
        let needy = FamilyVerification.pump.checks.filter { $0.needs.contains(.stimulus) }.map(\.id)
        #expect(verdict.skipped.filter { $0 != "pump.boot.banner" } == needy)
        #expect(world.device.device.state == .off)
    }

    @Test("A pump that is off and starts when it is sent SPEED fails that check, and is switched off")
    func startsUnasked() throws {
        let mutant = Mutant(kills: "", flaw: "starts with SPEED", hears: ["SPEED:99\n": "ON\n"])
        let world = World(.onBench, mutant)
        let verdict = try #require(world.verify(.pump, hasStimulus: false) { $0.mayRun = false }.verdict)
        #expect(verdict.failures == ["pump.speed.not-running"])
        #expect(verdict.aftermath == .safe)
        #expect(world.device.device.state == .off)
    }

    // MARK: Mute pumps

    @Test("A mute firmware is sent nothing but STATUS, and the run ends early")
    func mute() throws {
        let world = World(.onBench)
        world.onWrite = { _ in nil }
        let verdict = try #require(world.verify(.pump).verdict)
        #expect(verdict.failures == [FamilyVerification.pump.checks[0].id])
        #expect(verdict.skipped.count == FamilyVerification.pump.checks.count - 1)
        // The query took this long; checks that were not run took no time.
        #expect(verdict.results[0].time == .seconds(2))
        #expect(verdict.results.dropFirst().allSatisfy { $0.time == nil })
        #expect(!verdict.isPassed)
        #expect(verdict.aftermath == .untouched)
        #expect(world.written.allSatisfy { $0 == "STATUS\n" })
        #expect(world.loop.now <= .seconds(45))
    }

    @Test(
        "A run on a firmware that falls silent ends within 45 s",
        // The number of writes that the firmware still receives.
        arguments: Array(stride(from: 2, to: 90, by: 7)))
    func fallsSilent(count: Int) throws {
        let world = World(.onBench)
        var heard = 0
        world.onWrite = { text in
            heard += 1
            return heard > count ? nil : text
        }
        let verdict = try #require(world.verify(.pump, hasStimulus: false) { $0.mayRun = false }.verdict)
        #expect(verdict.failures.count == 1)
        #expect(!verdict.isPassed)
        #expect(world.loop.now <= .seconds(45), "\(world.loop.now)")
        // The pump was off, was sent no ON, and no longer replies.
        if case .unread = verdict.aftermath {} else { Issue.record("\(verdict.aftermath)") }
    }

    @Test("A run on a firmware that answers only STATUS and OFF ends within 45 s and fails")
    func answersLittle() throws {
        let world = World(.onBench)
        world.onWrite = { text in text.contains("STATUS") || text == "\nOFF\n" ? text : nil }
        let verdict = try #require(world.verify(.pump, hasStimulus: false) { $0.mayRun = false }.verdict)
        #expect(verdict.failures.count > 5)
        #expect(verdict.commonCause?.hasSuffix(" failed checks have the same cause: no answer") == true)
        #expect(!verdict.isPassed)
        #expect(world.loop.now <= .seconds(45), "\(world.loop.now)")
    }

    // MARK: The pump is always left off

    // The run may end before the last of these times.
    @Test("An interrupted verification leaves the pump off", arguments: Array(stride(from: 0.5, to: 80, by: 4.3)))
    func interrupted(seconds: Double) throws {
        let world = World(.onBench)
        world.loop.at(.seconds(seconds)) { world.task?.cancel() }
        let outcome = world.verify(.pump, hasStimulus: false)
        #expect(outcome.ending == .done)
        #expect(world.device.device.state == .off)
        if let verdict = outcome.verdict {
            #expect(!verdict.isPassed || world.loop.now < .seconds(seconds))
            #expect(verdict.aftermath == .safe)
        }
    }

    @Test(
        "Interrupted while the pump runs, a verification reports nothing before the pump is off",
        // Before, within and after the turn of the main loop that handles ON.
        arguments: [0, 20, 100, 160, 400])
    func interruptedRunning(milliseconds: Int) throws {
        let world = World(.onBench)
        world.onWrite = { text in
            if text == "ON\n" { world.loop.at(world.loop.now + .milliseconds(milliseconds)) { world.task?.cancel() } }
            return text
        }
        var told: [Told] = []
        world.onResult = { result in
            guard case .skipped = result.outcome else { return }
            told.append(Told(isRunning: world.device.device.state == .on, written: world.written))
        }
        let checks = FamilyVerification.pump.checks.filter {
            ["pump.off.reply", "pump.speed.kept", "pump.status.times"].contains($0.id)
        }
        let verdict = try #require(world.verify(.pump, checks: checks, hasStimulus: false).verdict)
        guard case .interrupted = verdict.ending else { throw Unexpected(text: "\(verdict.ending)") }
        #expect(verdict.results.map(\.id) == checks.map(\.id))
        #expect(verdict.aftermath == .safe)
        let written = try #require(told.first).written
        let (on, off) = (written.lastIndex(of: "ON\n"), written.lastIndex { $0.hasSuffix("OFF\n") })
        #expect(try #require(off) > #require(on))
        #expect(told.allSatisfy { !$0.isRunning })
    }

    @Test("No result is reported while the pump runs", arguments: [false, true])
    func toldWhenOff(isObserved: Bool) throws {
        let world = World(.onBench)
        world.tellsNothing = !isObserved
        // Makes some checks fail.
        world.onWrite = { $0 == "SPEED:0\n" ? "FOO\n" : $0 }
        var running: [String] = []
        world.onResult = { if world.device.device.state == .on { running.append($0.id) } }
        let verdict = try #require(world.verify(.pump).verdict)
        #expect(!verdict.failures.isEmpty)
        #expect(verdict.skipped.contains("pump.motor.off") != isObserved)
        #expect(verdict.aftermath == .safe)
        #expect(running == [])
    }

    @Test("After a failed check, OFF is sent at once if the pump is possibly running")
    func offAtOnce() throws {
        let world = World(.onBench)
        var asked: Duration?
        var waits: [Duration] = []
        world.onWrite = { text in
            if text.hasSuffix("OFF\n"), let time = asked { waits.append(world.loop.now - time) }
            let isSpeed = text.hasPrefix("SPEED:")
            asked = isSpeed ? world.loop.now : nil
            return isSpeed ? "FOO\n" : text
        }
        let checks = FamilyVerification.pump.checks.filter { $0.id == "pump.speed.reply" }
        let verdict = try #require(world.verify(.pump, checks: checks, hasStimulus: false).verdict)
        #expect(verdict.failures == ["pump.speed.reply"])
        // The wrong reply takes one turn of the firmware's loop; waiting for silence after it would add 300 ms.
        #expect(waits.count == 1 && waits.allSatisfy { $0 < .milliseconds(250) }, "\(waits)")
    }

    @Test("OFF is repeated until it is acknowledged")
    func deafToOff() throws {
        let world = World(.onBench)
        var count = 0
        world.onWrite = { text in
            guard text.hasSuffix("OFF\n"), world.device.device.state == .on else { return text }
            count += 1
            // Far more than the retries of one command.
            return count > 40 ? text : nil
        }
        let checks = FamilyVerification.pump.checks.filter { $0.id == "pump.on.reply" }
        let verdict = try #require(world.verify(.pump, checks: checks).verdict)
        #expect(verdict.failures == ["pump.on.reply"])
        #expect(verdict.aftermath == .safe)
        #expect(world.device.device.state == .off)
    }

    @Test("OFF is repeated for the pump's longest run of 30 minutes if it is never acknowledged")
    func neverHeard() throws {
        let world = World(.onBench)
        var isMute = false
        world.onWrite = { text in
            defer { isMute = isMute || text == "ON\n" }
            return isMute ? nil : text
        }
        let checks = FamilyVerification.pump.checks.filter { $0.id == "pump.on.state" }
        let verdict = try #require(world.verify(.pump, checks: checks).verdict)
        if case .perhapsOn = verdict.aftermath {} else { Issue.record("\(verdict.aftermath)") }
        #expect(world.loop.now > .seconds(1700) && world.loop.now < .seconds(1900), "\(world.loop.now)")
    }

    @Test("A pump that a query has started, and that ignores OFF, is reported as possibly on")
    func startedByQuery() throws {
        let world = World(.onBench)
        var hasStarted = false
        world.onWrite = { text in
            if text == "TEMP\n", !hasStarted {
                hasStarted = true
                world.device.device.receive(Array("ON\n".utf8), at: world.loop.now)
            }
            return text.hasSuffix("OFF\n") ? nil : text
        }
        let checks = FamilyVerification.pump.checks.filter { $0.id == "pump.temp.reply" }
        let verdict = try #require(world.verify(.pump, checks: checks) { $0.mayRun = false }.verdict)
        #expect(hasStarted && verdict.failures == ["pump.temp.reply"])
        if case .perhapsOn = verdict.aftermath {} else { Issue.record("\(verdict.aftermath)") }
    }

    @Test("A pump that ignores OFF is sent OFF for up to a minute, with warnings, and is reported as possibly on")
    func ignoresOff() throws {
        let world = World(.onBench)
        var (stops, told): ([Duration], [Duration]) = ([], [])
        world.onUnsafe = { reason in
            #expect(reason == "the pump was sent OFF, but its status says ON")
            told.append(world.loop.now)
        }
        world.onWrite = { text in
            guard text.hasSuffix("OFF\n"), world.device.device.state == .on else { return text }
            if text == "\nOFF\n" { stops.append(world.loop.now) }
            world.loop.at(world.loop.now + .milliseconds(100)) { world.link.arrive(Array("OK\r\nPUMP:OFF\r\n".utf8)) }
            return nil
        }
        let verdict = try #require(world.verify(.pump).verdict)
        #expect(verdict.failures == ["pump.off.stops"])
        #expect(verdict.aftermath == .perhapsOn("the pump was sent OFF, but its status says ON"))
        #expect(world.device.device.state == .on)
        let start = try #require(told.first)
        let last = stops.filter { $0 > start }
        #expect(zip(last, last.dropFirst()).allSatisfy { $1 - $0 >= .milliseconds(500) })
        #expect(told.count >= 8 && world.loop.now - start < .seconds(60), "\(told), \(world.loop.now)")
        #expect(zip(told, told.dropFirst()).allSatisfy { $1 - $0 < .seconds(8) }, "\(told)")
        #expect(verdict.results.allSatisfy { $0.steps.count < 1000 })
    }

    @Test("After a link lost within a check the pump is reported as possibly on")
    func lostLink() throws {
        let world = World(.onBench)
        world.onWrite = { text in
            if text == "SPEED:127\n" { world.link.drop() }
            return text
        }
        let verdict = try #require(world.verify(.pump, hasStimulus: false).verdict)
        guard case .lost = verdict.ending else { throw Unexpected(text: "\(verdict.ending)") }
        if case .perhapsOn = verdict.aftermath {} else { Issue.record("\(verdict.aftermath)") }
        #expect(verdict.results.count == FamilyVerification.pump.checks.count)
        // A firmware that crashes may break the link too, so the check during which the link broke has failed.
        let broken = try #require(verdict.results.first { $0.isFailure })
        #expect(verdict.failures == ["pump.speed.percent"])
        #expect(broken.sent.last == "SPEED:127\\n" && broken.steps.count > 1, "\(broken.steps)")
        guard case .failed(_, let got) = broken.outcome else { return }
        #expect(got.hasPrefix("the link broke: "), "\(got)")
        let others = verdict.results.drop { !$0.isFailure }.dropFirst()
        #expect(others.allSatisfy { $0.outcome == .skipped(reason: "the link broke") })
    }

    @Test("A link lost between two checks fails the next check")
    func lostBetween() throws {
        let world = World(.onBench)
        world.onResult = { if $0.id == "pump.off.reply" { world.link.drop() } }
        let verdict = try #require(world.verify(.pump, hasStimulus: false).verdict)
        let broken = try #require(verdict.results.first { $0.isFailure })
        #expect(verdict.failures == ["pump.command.unknown"] && broken.steps.isEmpty)
        guard case .failed(_, let got) = broken.outcome else { return }
        #expect(got.hasPrefix("the link broke before this check sent anything: "), "\(got)")
    }

    @Test(
        "The start of the pump is announced once before the first ON, and not without permission",
        arguments: [true, false])
    func tellsOfRunning(mayRun: Bool) throws {
        let world = World(.onBench)
        let count = Watched(0)
        var counts: [Int] = []
        world.onWrite = { text in
            if text.uppercased().hasPrefix("ON") { counts.append(count.state) }
            return text
        }
        let verdict = try #require(
            world.verify(.pump, hasStimulus: false) {
                $0.mayRun = mayRun
            } onRun: {
                count.update { $0 += 1 }
            }.verdict)
        #expect(verdict.aftermath == .safe && count.state == (mayRun ? 1 : 0))
        #expect(counts.isEmpty != mayRun && counts.allSatisfy { $0 == 1 })
    }

    @Test("A link lost before the first ON leaves the pump's final state unread")
    func lostBeforeOn() throws {
        let world = World(.onBench)
        world.onWrite = { text in
            if text == "FOO\n" { world.link.drop() }
            return text
        }
        let verdict = try #require(world.verify(.pump, hasStimulus: false).verdict)
        if case .unread = verdict.aftermath {} else { Issue.record("\(verdict.aftermath)") }
    }

    /// The facts at the time of a report.
    private struct Told {
        var isRunning: Bool
        var written: [String]
    }

    private struct Unexpected: Error { var text: String }
}
