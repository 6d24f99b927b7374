import DeviceTestKit
import FirmwareSim
import TestSupport
import Testing

@testable import Verification

@Suite("Repeated rounds of checks")
struct RepetitionTests {
    /// Verifies a correct device of a family in three rounds, without permission to run it.
    private static func verify(_ family: FamilyVerification) throws -> FirmwareVerdict {
        func run(_ device: some SimulatedDevice) throws -> FirmwareVerdict {
            try #require(VerificationWorld(device).verify(family) { ($0.rounds, $0.mayRun) = (3, false) }.verdict)
        }
        switch family.family {
        case "pump": return try run(PumpFirmware.onBench)
        case "storm": return try run(StormFirmware(options: StormFirmwareOptions()))
        case "led": return try run(LEDFirmware())
        case "peer": return try run(PeerFirmware(options: PeerFirmwareOptions(imageByteCount: 1000)))
        default: return try run(RescueFirmware(options: RescueFirmwareOptions()))
        }
    }

    @Test("Each round makes every check in order and is counted", arguments: FamilyVerification.all.map(\.family))
    func rounds(family: String) throws {
        let row = try #require(FamilyVerification.named(family))
        let verdict = try Self.verify(row)
        let ids = row.checks.map(\.id)
        #expect(verdict.results.map(\.id) == ids + ids + ids)
        #expect(verdict.results.map(\.round) == [1, 2, 3].flatMap { Array(repeating: $0, count: ids.count) })
        #expect(verdict.isPassed, "\(verdict.results.filter(\.isFailure))")
        // A check that is skipped in one round is skipped in all three, and each check counts once per round.
        #expect(verdict.skippedCount.isMultiple(of: 3))
        #expect(verdict.passedCount + verdict.skippedCount == 3 * ids.count)
    }

    @Test("A failure in one round skips nothing in the next")
    func failsOnce() throws {
        let mutant = Mutant(kills: "", flaw: "is not lit at first", hears: ["LED:1\n": "LED:0\n"])
        let world = VerificationWorld(LEDFirmware(), mutant)
        var count = 0
        world.onWrite = { text in
            if text == "LED:1\n" { count += 1 }
            world.device.isMutated = count <= 2
            return text
        }
        let verdict = try #require(world.verify(.led) { $0.rounds = 2 }.verdict)
        #expect(verdict.failures == ["led.on"])
        #expect(verdict.skipped == ["led.again"])
        #expect(verdict.results.filter { $0.round == 2 }.allSatisfy { $0.outcome == .passed })
    }
}

@Suite("Verification at ports that reset the board")
struct ResettingPortTests {
    /// A world whose board is reset by the opening of its port.
    private static func world(_ pump: PumpFirmware = .onBench) -> VerificationWorld<PumpFirmware> {
        let world = VerificationWorld(pump)
        world.link.mayHaveReset = true
        world.device.reset(at: .zero)
        return world
    }

    @Test("A reset board is awaited, and its banner is checked")
    func banner() throws {
        let world = Self.world()
        let verdict = try #require(world.verify(.pump, hasStimulus: false) { $0.mayRun = false }.verdict)
        #expect(verdict.isPassed, "\(verdict.results.filter(\.isFailure))")
        let banner = try #require(verdict.results.first { $0.id == "pump.boot.banner" })
        #expect(banner.outcome == .passed && banner.variants == ["boot banner of several lines"])
        #expect(world.loop.now < .seconds(45), "\(world.loop.now)")
    }

    @Test("A wrong banner after the reset fails the banner check without a stimulus")
    func wrongBanner() throws {
        let world = VerificationWorld(
            PumpFirmware.onBench,
            Mutant(kills: "pump.boot.banner", flaw: "says no baud rate", says: [.init(line: "Baud Rate:", becomes: [])])
        )
        world.link.mayHaveReset = true
        world.device.reset(at: .zero)
        let verdict = try #require(world.verify(.pump, hasStimulus: false) { $0.mayRun = false }.verdict)
        #expect(verdict.failures == ["pump.boot.banner"])
    }

    @Test("A board that never starts is sent STATUS for 5 s, and nothing else")
    func mute() throws {
        let world = Self.world()
        world.onWrite = { _ in nil }
        let verdict = try #require(world.verify(.pump).verdict)
        #expect(verdict.failures == ["pump.status.reply"] && verdict.aftermath == .untouched)
        #expect(world.written.allSatisfy { $0 == "STATUS\n" } && world.written.count == 5)
        #expect(world.loop.now <= .seconds(6))
    }
}
