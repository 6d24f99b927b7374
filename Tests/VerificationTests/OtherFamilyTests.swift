import FirmwareSim
import LineProtocol
import TestSupport
import Testing

@testable import Verification

@Suite("Verifying other firmware")
struct OtherFamilyTests {
    @Test("An LED board that keeps the protocol passes every check, and is left as it was", arguments: [false, true])
    func led(isLit: Bool) throws {
        var board = LEDFirmware()
        board.receive(Array("LED:\(isLit ? 1 : 0)\n".utf8), at: .zero)
        _ = board.advance(to: .seconds(1))
        let world = VerificationWorld(board, age: .seconds(1))
        let verdict = try #require(world.verify(.led).verdict)
        #expect(verdict.isPassed)
        #expect(verdict.passedCount == FamilyVerification.led.checks.count)
        world.loop.run(for: .seconds(1))
        #expect(world.device.device.isLit == isLit)
    }

    @Test("An LED board that does not answer is through at once", arguments: ["led", "storm"])
    func mute(family: String) throws {
        let world = VerificationWorld(LEDFirmware())
        world.onWrite = { _ in nil }
        let row = try #require(FamilyVerification.named(family))
        let verdict = try #require(world.verify(row).verdict)
        #expect(verdict.failedCount == 1 && !verdict.isPassed)
        #expect(world.loop.now < .seconds(10))
        #expect(verdict.aftermath == .untouched)
    }

    @Test("A storm sensor that keeps the protocol passes every check")
    func storm() throws {
        let world = VerificationWorld(StormFirmware(options: StormFirmwareOptions()))
        let verdict = try #require(world.verify(.storm).verdict)
        #expect(verdict.isPassed, "\(verdict.results)")
        #expect(verdict.passedCount == FamilyVerification.storm.checks.count)
    }

    private static let mutants: [Mutant] = [
        Mutant(
            kills: "led.ask", flaw: "answers in lower case", isShared: true,
            says: [.init(line: "LED:", becomes: ["led:0"], behind: "LED\n")]),
        Mutant(kills: "led.on", flaw: "can't be lit", isShared: true, hears: ["LED:1\n": "LED:0\n"]),
        Mutant(kills: "led.off", flaw: "can't be put out", isShared: true, hears: ["LED:0\n": "LED:1\n"]),
        Mutant(
            kills: "led.again", flaw: "says something else the second time", isShared: true,
            says: [.init(line: "LED:1", becomes: ["LED:0"], behind: "LED:1\n", spared: 1)]),
        Mutant(
            kills: "led.kept", flaw: "forgets when it is asked", isShared: true,
            says: [.init(line: "LED:1", becomes: ["LED:0"], behind: "LED\n", spared: 1)]),
        Mutant(
            kills: "storm.log.reply", flaw: "says another beginning", isShared: true,
            says: [.init(line: "LOG Values: ", becomes: ["LOG: "])]),
        Mutant(
            kills: "storm.log.rows", flaw: "leaves out a number", isShared: true,
            says: [.init(line: "LOG Values: ", becomes: ["LOG Values: ", "1 2 3"])]),
        Mutant(
            kills: "storm.log.same", flaw: "says a row of its log once only", isShared: true,
            says: [.init(line: "LOG Values: ", becomes: ["LOG Values: 1 2 3 4.5"], spared: 1)]),
        Mutant(
            kills: "storm.live.row", flaw: "says no live row",
            says: [.init(line: "LIVE LOG: ", becomes: [])]),
    ]

    @Test("Every check has a device that it alone finds", arguments: mutants)
    func isFound(mutant: Mutant) throws {
        let verdict: FirmwareVerdict?
        if mutant.kills.hasPrefix("led.") {
            verdict = VerificationWorld(LEDFirmware(), mutant).verify(.led).verdict
        } else {
            verdict = VerificationWorld(StormFirmware(options: StormFirmwareOptions()), mutant).verify(.storm).verdict
        }
        #expect(verdict?.failures == [mutant.kills], "\(verdict?.results ?? [])")
    }

    @Test("No check is without one")
    func everyCheckIsNeeded() {
        let checks = (FamilyVerification.led.checks + FamilyVerification.storm.checks).map(\.id)
        #expect(Set(Self.mutants.map(\.kills)) == Set(checks))
    }
}
