import DeviceTestKit
import FirmwareSim
import LineProtocol
import TestSupport
import Testing

@testable import Verification

@Suite("Verification of pumps")
struct PumpVerificationTests {
    @Test("A correct pump passes every check", arguments: [1, 2])
    func passes(thermistors: Int) throws {
        var options = PumpFirmware.onBench.options
        options.thermistors = thermistors == 1 ? .one : .two
        let world = VerificationWorld(PumpFirmware(options: options))
        let outcome = world.verify(.pump)
        let verdict = try #require(outcome.verdict, "\(outcome)")
        for result in verdict.results where result.outcome != .passed { Issue.record("\(result)") }
        #expect(verdict.aftermath == .safe)
        #expect(world.device.device.state == .off)
        for kind in Timings.Kind.allCases { #expect(verdict.timings.summary(of: kind) != nil, "\(kind)") }
    }

    @Test(
        "Debug lines around replies fail no check",
        // With another age of the pump, the turns of its main loop fall at other times of the run.
        arguments: [WorldCarrier.line, .module(interval: .milliseconds(30))], [Duration.zero, .milliseconds(2345)])
    func debugBuild(carrier: WorldCarrier, age: Duration) throws {
        var options = PumpFirmware.onBench.options
        options.printsDebugLines = true
        let world = VerificationWorld(PumpFirmware(options: options), age: age, over: carrier)
        let verdict = try #require(world.verify(.pump).verdict)
        for result in verdict.results where result.outcome != .passed { Issue.record("\(result)") }
        #expect(world.device.device.state == .off)
    }

    @Test("A firmware that echoes its input is reported as one common cause")
    func echo() throws {
        let world = VerificationWorld(PumpFirmware.onBench)
        world.onWrite = { [unowned world] text in
            world.link.arrive(Array(text.replacing("\n", with: "\r\n").utf8))
            return text
        }
        let verdict = try #require(world.verify(.pump, hasStimulus: false) { $0.mayRun = false }.verdict)
        let cause = try #require(verdict.commonCause)
        #expect(verdict.failedCount > 10)
        #expect(cause.hasSuffix("failed checks have the same cause: the device echoes commands"), "\(cause)")
        #expect(TextReport().ending(verdict, nil).contains("cause \(cause)\n"))
        #expect(TAPReport().ending(verdict, nil).contains("# \(cause)\n"))
        let mutant = try #require(Mutant.pumps.first)
        #expect(VerificationWorld(PumpFirmware.onBench, mutant).verify(.pump).verdict?.commonCause == nil)
    }

    @Test("A skipped check lists everything that it needs")
    func needs() throws {
        let checks = FamilyVerification.pump.checks.filter { $0.id == "pump.motor.start" }
        let world = VerificationWorld(PumpFirmware.onBench)
        let verdict = try #require(
            world.verify(.pump, checks: checks, hasStimulus: false) {
                $0.mayRun = false
                $0.remedies = [.run: "--allow-run", .stimulus: "--stimulus SOCKET"]
            }.verdict)
        #expect(
            verdict.results.map(\.outcome) == [
                .skipped(reason: "needs permission to run the pump: --allow-run; needs a stimulus: --stimulus SOCKET")
            ])
    }

    // A reply within 40 ms counts as immediate. 17 ms is just more than the 16 ms for which an adapter may hold a byte.
    @Test("A firmware that answers at once passes, and its loop checks are skipped", arguments: [30, 17_000])
    func noLoop(microseconds: Int) throws {
        let world = VerificationWorld(PumpFirmware.onBench)
        Self.answer(world) { world.loop.now + .microseconds(microseconds) }
        let checks = FamilyVerification.pump.checks.filter {
            $0.id.hasPrefix("pump.loop.") || $0.id == "pump.reply.latency"
        }
        let verdict = try #require(world.verify(.pump, checks: checks, hasStimulus: false).verdict)
        #expect(
            verdict.isPassed && verdict.skipped == ["pump.loop.one-command", "pump.loop.period", "pump.loop.blink"])
        #expect(verdict.timings.summary(of: .loopPeriod) == nil)
        guard case .skipped(let reason)? = verdict.results.last?.outcome else { return }
        #expect(reason.contains("no loop can be measured"), "\(reason)")
    }

    /// Makes a pump that is off reply to each command at the time returned by `time`.
    private static func answer(_ world: VerificationWorld<PumpFirmware>, at time: @escaping () -> Duration) {
        world.onWrite = { [unowned world] text in
            for command in text.split(separator: "\n") {
                let reply =
                    switch command {
                    case "TEMP": "TEMP:34.0"
                    case "STATUS": "STATUS:{State:OFF,Temp:34.0C}"
                    case "OFF": "OK\r\nPUMP:OFF"
                    default: "ERROR:INVALID_SPEED_VALUE"
                    }
                world.loop.at(time()) { world.link.arrive(Array("\(reply)\r\n".utf8)) }
            }
            return nil
        }
    }

    /// A loop with turns of `turn` ms, plus `blink` ms after a command, and the checks that it fails. Correct are turns
    /// of 90 to 130 ms and blinks of 30 to 70 ms.
    struct Loop: Sendable {
        var turn: Int
        var blink = 50
        var fails: [String]
    }

    private static let loops = [
        Loop(turn: 109, fails: []), Loop(turn: 30, fails: ["period"]), Loop(turn: 59, fails: ["period"]),
        Loop(turn: 59, blink: 0, fails: ["period"]), Loop(turn: 70, fails: ["period"]),
        Loop(turn: 59, blink: 100, fails: ["period"]), Loop(turn: 150, fails: ["period"]),
        Loop(turn: 109, blink: 0, fails: ["blink"]),
    ]

    @Test("A loop at another pace fails only its check, and its period is reported", arguments: loops)
    func pace(loop: Loop) throws {
        let world = VerificationWorld(PumpFirmware.onBench)
        var next = Duration.zero
        Self.answer(world) {
            while next < world.loop.now { next += .milliseconds(loop.turn) }
            defer { next += .milliseconds(loop.turn + loop.blink) }
            return next
        }
        let checks = FamilyVerification.pump.checks.filter { $0.id.hasPrefix("pump.loop.") }
        let verdict = try #require(world.verify(.pump, checks: checks, hasStimulus: false).verdict)
        #expect(verdict.failures == loop.fails.map { "pump.loop." + $0 }, "\(verdict.results)")
        let median = try #require(verdict.timings.summary(of: .loopPeriod)?.median)
        #expect(abs(median - Double(loop.turn)) < 1, "\(median)")
    }
}

@Suite("Verification of pumps behind an HM-10")
struct PumpOverModuleTests {
    // The arguments are connection intervals in milliseconds: typical of BlueZ, of phones and of slow links.
    @Test("Split, joined and delayed packets fail no check of the pump", arguments: [7.5, 30, 50])
    func passes(interval: Double) throws {
        let world = VerificationWorld(
            PumpFirmware.onBench, over: .module(interval: .microseconds(Int(interval * 1000))))
        let verdict = try #require(world.verify(.pump).verdict)
        for result in verdict.results { #expect(result.outcome == .passed, "\(result.id) \(result.outcome)") }
        #expect(verdict.aftermath == .safe)
        #expect(world.device.device.state == .off)
    }

    @Test("Over BLE a run without permission ends within 45 s")
    func withoutLeave() throws {
        let world = VerificationWorld(PumpFirmware.onBench, over: .module(interval: .milliseconds(30)))
        let verdict = try #require(world.verify(.pump, hasStimulus: false) { $0.mayRun = false }.verdict)
        #expect(verdict.isPassed, "\(verdict.results.filter(\.isFailure))")
        #expect(world.loop.now < .seconds(45), "\(world.loop.now)")
    }
}

@Suite("Flawed pumps")
struct PumpMutantTests {
    @Test("Every check has a flawed pump")
    func everyCheckIsNeeded() {
        let killed = Set(Mutant.pumps.map(\.kills))
        for check in FamilyVerification.pump.checks { #expect(killed.contains(check.id), "\(check.id)") }
        #expect(killed.count == FamilyVerification.pump.checks.count)
    }

    @Test("A flawed pump fails only the check of its flaw, and is off afterwards", arguments: Mutant.pumps)
    func isFound(mutant: Mutant) throws {
        let world = VerificationWorld(PumpFirmware.onBench, mutant)
        let outcome = world.verify(.pump)
        let verdict = try #require(outcome.verdict, "\(outcome)")
        let failed = verdict.results.filter(\.isFailure)
        #expect(failed.map(\.id) == [mutant.kills], "\(failed.map(\.outcome))")
        for id in verdict.skipped {
            #expect(FamilyVerification.pump.basis(of: id).contains(mutant.kills), "\(id)")
        }
        #expect(verdict.aftermath == .safe)
        #expect(world.device.device.state == .off)
    }

    @Test("A pump with a permanent flaw fails exactly one check", arguments: Mutant.wholePumps)
    func failsOnce(mutant: Mutant) throws {
        let world = VerificationWorld(PumpFirmware.onBench, mutant)
        let verdict = try #require(world.verify(.pump).verdict)
        let failed = verdict.results.filter(\.isFailure)
        #expect(failed.map(\.id) == [mutant.kills], "\(failed.map(\.outcome))")
        #expect(world.device.device.state == .off)
    }

    @Test(
        "A flaw that is active only during its check would be found by other checks if it were always active",
        arguments: Mutant.pumps.filter(\.isShared))
    func isFoundElsewhere(mutant: Mutant) throws {
        var always = mutant
        always.sharedBecause = nil
        let world = VerificationWorld(PumpFirmware.onBench, always)
        let verdict = try #require(world.verify(.pump).verdict)
        #expect(!verdict.failures.isEmpty && verdict.failures != [mutant.kills])
        #expect(world.device.device.state == .off)
    }

    @Test("A check made alone does not need the checks that it rests on")
    func restsOnNothing() throws {
        let mutant = try #require(Mutant.pumps.first { $0.kills == "pump.on.reply" })
        let checks = FamilyVerification.pump.checks.filter { $0.id == "pump.speed.percent" }
        let verdict = VerificationWorld(PumpFirmware.onBench, mutant).verify(.pump, checks: checks).verdict
        #expect(verdict?.failures == ["pump.speed.percent"])
    }

    @Test("Checks rest only on earlier checks", arguments: FamilyVerification.all.map(\.family))
    func order(family: String) throws {
        let row = try #require(FamilyVerification.named(family))
        let ids = row.checks.map(\.id)
        for (index, id) in ids.enumerated() {
            for basis in row.basis(of: id) {
                #expect(ids[..<index].contains(basis), "\(id) rests on \(basis)")
            }
        }
        for name in row.basis.flatMap({ $0.dependents + $0.checks }) {
            #expect(ids.contains { $0.hasPrefix(name) }, "\(name)")
        }
    }

    @Test("Unsolicited lines do not prolong the wait for a reply")
    func chatty() throws {
        let mutant = Mutant(
            kills: "pump.temp.form", flaw: "does not answer, and is not silent", hears: ["TEMP\n": ""],
            chatter: ("[MAIN] turn", "off"), chatterInterval: .milliseconds(300))
        let world = VerificationWorld(PumpFirmware.onBench, mutant)
        let verdict = try #require(
            world.verify(.pump, checks: FamilyVerification.pump.checks.filter { $0.id == mutant.kills }).verdict)
        #expect(verdict.failures == [mutant.kills])
        #expect(world.loop.now < .seconds(20))
    }

    @Test(
        "A pump that is never silent does not stall a verification", arguments: ["MANUAL:OFF", "OK", "ERROR:OVERHEAT"])
    func neverSilent(line: String) throws {
        let mutant = Mutant(
            kills: "", flaw: "never silent", chatter: (line, "off"), chatterInterval: .milliseconds(120))
        let world = VerificationWorld(PumpFirmware.onBench, mutant)
        let outcome = world.verify(.pump, checks: Array(FamilyVerification.pump.checks.prefix(3))) {
            // By default OFF would be repeated for 30 minutes.
            $0.offLimit = .seconds(20)
        }
        let verdict = try #require(outcome.verdict, "\(outcome)")
        #expect(verdict.failedCount > 0)
        #expect(world.loop.now < .seconds(60))
        #expect(world.device.device.state == .off)
    }
}
