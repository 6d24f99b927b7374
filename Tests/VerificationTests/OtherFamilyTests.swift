import DeviceTestKit
import FirmwareSim
import LineProtocol
import TestSupport
import Testing

@testable import Verification

@Suite("Verification of LED boards and storm sensors")
struct OtherFamilyTests {
    @Test("A correct LED board passes every check and keeps its state", arguments: [false, true])
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

    @Test("A mute board fails the first check, and the run ends early", arguments: ["led", "storm"])
    func mute(family: String) throws {
        let world = VerificationWorld(LEDFirmware())
        world.onWrite = { _ in nil }
        let row = try #require(FamilyVerification.named(family))
        let verdict = try #require(world.verify(row).verdict)
        #expect(verdict.failedCount == 1 && !verdict.isPassed)
        #expect(world.loop.now < .seconds(10))
        #expect(verdict.aftermath == .untouched)
    }

    /// A board that starts when its port is opened.
    enum Start: CaseIterable {
        /// Receives input immediately, even while it starts.
        case listening
        /// Loses the input that arrives while it starts.
        case deaf
        /// Replies after its start to the input that arrived during the start.
        case late
    }

    @Test(
        "A board that prints boot lines on opening is queried until it answers, and passes",
        arguments: ["led", "storm"], Start.allCases)
    func boots(family: String, start: Start) throws {
        let row = try #require(FamilyVerification.named(family))
        func verdict(_ world: VerificationWorld<some SimulatedDevice>) throws -> FirmwareVerdict {
            world.link.mayHaveReset = start != .listening
            let boot = "ets Jul 29 2019 12:21:46\r\n\r\nrst:0x1 (POWERON_RESET),boot:0x13 (SPI_FAST_FLASH_BOOT)\r\n"
            world.loop.at(.microseconds(10)) { world.link.arrive(Array(boot.utf8)) }
            var (held, isThere) = ("", start == .listening)
            // Unless the board is `listening`, no write reaches it until 2.3 s. After that each one does; with `late`,
            // behind all earlier ones.
            world.loop.at(.milliseconds(2300)) { isThere = true }
            world.onWrite = { text in
                if start == .late { held += text } else { held = text }
                guard isThere else { return nil }
                defer { held = "" }
                return held
            }
            return try #require(world.verify(row).verdict)
        }
        let options = StormFirmwareOptions(interval: .milliseconds(400), echoesCommand: true)
        let verdict =
            try family == "led"
            ? verdict(VerificationWorld(LEDFirmware())) : verdict(VerificationWorld(StormFirmware(options: options)))
        #expect(verdict.isPassed && verdict.skipped.isEmpty, "\(verdict.results.filter { $0.outcome != .passed })")
    }

    @Test("A correct storm sensor passes every check")
    func storm() throws {
        let world = VerificationWorld(StormFirmware(options: StormFirmwareOptions()))
        let verdict = try #require(world.verify(.storm).verdict)
        #expect(verdict.isPassed, "\(verdict.results)")
        #expect(verdict.passedCount == FamilyVerification.storm.checks.count)
    }

    @Test("A run over a long log ends within 45 s, and unseen parts are skipped")
    func longLog() throws {
        let world = VerificationWorld(StormFirmware(options: StormFirmwareOptions(rows: 100_000)))
        let verdict = try #require(world.verify(.storm, hasStimulus: false) { $0.mayRun = false }.verdict)
        #expect(verdict.failures.isEmpty && verdict.skipped.contains("storm.log.same"))
        #expect(world.loop.now < .seconds(45), "\(world.loop.now)")
        // Thousands of lines have arrived; the report contains a few.
        for result in verdict.results { #expect(result.received.count < 20) }
    }

    @Test("Without rows the check of rows is skipped")
    func emptyLog() throws {
        let world = VerificationWorld(StormFirmware(options: StormFirmwareOptions(rows: 0, interval: nil)))
        let verdict = try #require(world.verify(.storm, hasStimulus: false) { $0.mayRun = false }.verdict)
        #expect(verdict.failures.isEmpty && verdict.skipped.contains("storm.log.rows"))
    }

    @Test("A storm sensor with frequent live rows passes", arguments: [90, 400, 1000])
    func busyStorm(interval: Int) throws {
        let options = StormFirmwareOptions(interval: .milliseconds(interval), echoesCommand: true)
        let verdict = try #require(VerificationWorld(StormFirmware(options: options)).verify(.storm).verdict)
        #expect(verdict.isPassed && verdict.skipped.isEmpty, "\(verdict.results.filter(\.isFailure))")
    }

    @Test(
        "A run on a device that falls silent ends within 45 s", arguments: ["led", "storm"],
        [1, 2, 3, 5])
    func fallsSilent(family: String, count: Int) throws {
        let row = try #require(FamilyVerification.named(family))
        func verdict(_ world: VerificationWorld<some SimulatedDevice>) throws -> FirmwareVerdict {
            var heard = 0
            world.onWrite = { text in
                heard += 1
                return heard > count ? nil : text
            }
            let verdict = try #require(world.verify(row, hasStimulus: false) { $0.mayRun = false }.verdict)
            #expect(world.loop.now <= .seconds(45), "\(world.loop.now)")
            return verdict
        }
        if family == "led" {
            #expect(try !verdict(VerificationWorld(LEDFirmware())).isPassed)
        } else {
            let world = VerificationWorld(StormFirmware(options: StormFirmwareOptions()))
            // Without a stimulus, a storm sensor is only sent GET_LOG, twice.
            #expect(try verdict(world).isPassed == (count > 1))
        }
    }

    /// For each check, a device with a flaw that only this check finds. `spared` leaves the replies to earlier checks
    /// as they are.
    private static let mutants: [Mutant] = [
        Mutant(
            kills: "led.ask", flaw: "answers in lower case",
            says: [.init(line: "LED:", becomes: ["led:0"], behind: "LED\n")]),
        Mutant(kills: "led.on", flaw: "can't be lit", hears: ["LED:1\n": "LED:0\n"]),
        Mutant(kills: "led.off", flaw: "can't be put out", hears: ["LED:0\n": "LED:1\n"]),
        Mutant(
            kills: "led.again", flaw: "says something else the second time",
            says: [.init(line: "LED:1", becomes: ["LED:0"], behind: "LED:1\n", spared: 3, times: 1)]),
        Mutant(
            kills: "led.kept", flaw: "forgets when it is asked again",
            says: [.init(line: "LED:1", becomes: ["LED:0"], behind: "LED\n", spared: 1, times: 1)]),
        Mutant(kills: "led.now", flaw: "does not notice the switch", feels: ["light off": ""]),
        Mutant(
            kills: "storm.log.reply", flaw: "says another beginning",
            says: [.init(line: "LOG Values: ", becomes: ["LOG: "])]),
        Mutant(
            kills: "storm.log.rows", flaw: "leaves out a number",
            says: [.init(line: "LOG Values: ", becomes: ["LOG Values: ", "1 2 3"])]),
        Mutant(
            kills: "storm.log.rows", flaw: "ends its log by a line",
            says: [.init(line: "LOG Values: ", becomes: ["*", "END"])]),
        Mutant(
            kills: "storm.log.same", flaw: "says a row of its log once only",
            says: [.init(line: "LOG Values: ", becomes: ["LOG Values: 1 2 3 4.5"], spared: 1)]),
        Mutant(
            kills: "storm.log.grows", flaw: "does not keep what it measures",
            sharedBecause: "what it does not measure has no live row either", feels: ["measure": ""]),
        Mutant(
            kills: "storm.live.row", flaw: "leaves out a number of a live row",
            says: [.init(line: "LIVE LOG: ", becomes: ["LIVE LOG: 1 2 3"])]),
        Mutant(
            kills: "storm.live.once", flaw: "says a live row twice",
            says: [.init(line: "LIVE LOG: ", becomes: ["*", "*"])]),
    ]

    @Test("A flawed device fails only the check of its flaw", arguments: mutants)
    func isFound(mutant: Mutant) throws {
        let verdict: FirmwareVerdict?
        if mutant.kills.hasPrefix("led.") {
            verdict = VerificationWorld(LEDFirmware(), mutant).verify(.led).verdict
        } else {
            verdict = VerificationWorld(StormFirmware(options: StormFirmwareOptions()), mutant).verify(.storm).verdict
        }
        #expect(verdict?.failures == [mutant.kills], "\(verdict?.results ?? [])")
    }

    @Test(
        "An LED that toggles when queried or set fails only the check on that",
        arguments: [false, true], [false, true])
    func toggles(isLit: Bool, byAsking: Bool) throws {
        let world = VerificationWorld(LEDFirmware(isLit: isLit, answersSets: !byAsking))
        world.onWrite = { [unowned world] text in
            let isLit = world.device.device.isLit
            if byAsking { return text == "LED\n" ? "LED:\(isLit ? 0 : 1)\nLED\n" : text }
            return text == "LED\n" ? text : "LED:\(isLit ? 0 : 1)\n"
        }
        let verdict = try #require(world.verify(.led).verdict)
        #expect(verdict.failures == [byAsking ? "led.kept" : "led.again"], "\(verdict.results)")
    }

    @Test("A line that ends a log fails the check of rows, even if rows are added")
    func logEnd() throws {
        let options = StormFirmwareOptions(rows: 3, interval: .milliseconds(600))
        let world = VerificationWorld(StormFirmware(options: options))
        world.onWrite = { [unowned world] text in
            // Within the second of silence that ends a log.
            world.loop.at(world.loop.now + .milliseconds(550)) { world.link.arrive(Array("END\r\n".utf8)) }
            return text
        }
        let verdict = try #require(world.verify(.storm, hasStimulus: false).verdict)
        #expect(verdict.failures == ["storm.log.rows"], "\(verdict.results)")
    }

    @Test("Every check has a flawed device")
    func everyCheckIsNeeded() {
        let checks = (FamilyVerification.led.checks + FamilyVerification.storm.checks).map(\.id)
        #expect(Set(Self.mutants.map(\.kills)) == Set(checks))
    }
}
