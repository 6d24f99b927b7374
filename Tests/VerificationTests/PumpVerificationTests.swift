import FirmwareSim
import LineProtocol
import TestSupport
import Testing

@testable import Verification

@Suite("Verifying a pump's firmware")
struct PumpVerificationTests {
    @Test("A pump that keeps the protocol passes every check", arguments: [1, 2])
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
        print("simulated", world.loop.now, verdict.timings)
    }
}

@Suite("Pumps that do not keep the protocol")
struct PumpMutantTests {
    @Test("Every check has a pump that it alone finds")
    func everyCheckIsNeeded() {
        let killed = Set(Mutant.pumps.map(\.kills))
        for check in FamilyVerification.pump.checks { #expect(killed.contains(check.id), "\(check.id)") }
        #expect(killed.count == FamilyVerification.pump.checks.count)
    }

    @Test("A pump with a flaw fails the one check on it", arguments: Mutant.pumps)
    func isFound(mutant: Mutant) throws {
        let world = VerificationWorld(PumpFirmware.onBench, mutant)
        let outcome = world.verify(.pump)
        let verdict = try #require(outcome.verdict, "\(outcome)")
        let failed = verdict.results.filter(\.isFailure)
        #expect(failed.map(\.id) == [mutant.kills], "\(failed.map(\.outcome))")
        #expect(verdict.skipped.isEmpty)
        #expect(verdict.aftermath == .safe)
        #expect(world.device.device.state == .off)
    }

    @Test("A pump that is never silent holds up no verification", arguments: ["MANUAL:OFF", "OK", "ERROR:OVERHEAT"])
    func neverSilent(line: String) throws {
        let mutant = Mutant(kills: "", flaw: "never silent", chatter: line, chatterInterval: .milliseconds(120))
        let world = VerificationWorld(PumpFirmware.onBench, mutant)
        let outcome = world.verify(.pump, checks: Array(FamilyVerification.pump.checks.prefix(3))) {
            $0.offLimit = .seconds(20)
        }
        let verdict = try #require(outcome.verdict, "\(outcome)")
        #expect(verdict.failedCount > 0)
        #expect(world.loop.now < .seconds(60))
        #expect(world.device.device.state == .off)
    }

    @Test("A flaw that several checks would find is found by its own", arguments: Mutant.pumps.filter(\.isShared))
    func isFoundToo(mutant: Mutant) throws {
        let check = try #require(FamilyVerification.pump.checks.first { $0.id == mutant.kills })
        let world = VerificationWorld(PumpFirmware.onBench, mutant)
        let verdict = world.verify(.pump, checks: [check]).verdict
        #expect(verdict?.failures == [mutant.kills])
    }
}
