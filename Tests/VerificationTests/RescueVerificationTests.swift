import DeviceTestKit
import FirmwareSim
import LineProtocol
import StrictJSON
import Testing
import TestSupport

@testable import Verification

@Suite("Verification of rescue phones")
struct RescueVerificationTests {
    private static func phone(_ change: (inout RescueFirmwareOptions) -> Void = { _ in }) -> RescueFirmware {
        var options = RescueFirmwareOptions()
        change(&options)
        return RescueFirmware(options: options)
    }

    @Test("A correct phone passes every check")
    func passes() throws {
        let world = VerificationWorld(Self.phone())
        let verdict = try #require(world.verify(.rescue).verdict)
        for result in verdict.results { #expect(result.outcome == .passed, "\(result.id) \(result.outcome)") }
        #expect(verdict.isPassed)
        #expect(world.loop.now < .seconds(45), "\(world.loop.now)")
    }

    @Test("A message in pieces of any size passes", arguments: [1, 20, 514])
    func pieces(length: Int) throws {
        let verdict = try #require(VerificationWorld(Self.phone { $0.split = length }).verify(.rescue).verdict)
        #expect(verdict.isPassed && verdict.skipped.isEmpty)
    }

    @Test("Without permission nothing is sent")
    func withoutLeave() throws {
        let world = VerificationWorld(Self.phone())
        let verdict = try #require(world.verify(.rescue, hasStimulus: false) { $0.maySend = false }.verdict)
        #expect(world.written.isEmpty)
        #expect(verdict.isPassed && verdict.aftermath == .untouched)
        #expect(verdict.skipped == FamilyVerification.rescue.checks.filter { !$0.needs.isEmpty }.map(\.id))
        // The checks that need neither a permission nor a stimulus.
        #expect(verdict.passedCount == 11)
    }

    @Test("Test messages are marked as a test, are never an SOS, and have new ids in each run")
    func harmless() throws {
        let worlds = [VerificationWorld(Self.phone()), VerificationWorld(Self.phone())]
        _ = worlds[0].verify(.rescue, hasStimulus: false)
        _ = worlds[1].verify(.rescue, hasStimulus: false) { $0.seed = 8 }
        let ids = worlds.map { world in
            Set(world.device.device.received.map(\.id))
        }
        #expect(ids[0].count > 5 && ids[0].isDisjoint(with: ids[1]))
        for message in worlds.flatMap(\.device.device.received) {
            #expect(message.category == "Other" && message.content.hasPrefix("TEST of pumpctl verify"))
        }
    }

    @Test("A phone that does not forward is judged by the stimulus's count, or those checks are skipped")
    func hoards() throws {
        let counted = try #require(VerificationWorld(Self.phone { $0.forwards = false }).verify(.rescue).verdict)
        #expect(counted.isPassed)
        #expect(counted.skipped == ["rescue.received.whole", "rescue.received.pending"])
        let unseen = try #require(
            VerificationWorld(Self.phone { $0.forwards = false }).verify(.rescue, hasStimulus: false).verdict)
        #expect(unseen.isPassed)
        #expect(unseen.skipped.filter { $0.hasPrefix("rescue.received") }.count == 6)
    }

    @Test("A phone that says nothing fails", arguments: [false, true])
    func mute(maySend: Bool) throws {
        let world = VerificationWorld(Self.phone { ($0.messages, $0.forwards) = (0, false) })
        let verdict = try #require(world.verify(.rescue, hasStimulus: false) { $0.maySend = maySend }.verdict)
        #expect(verdict.failures == ["rescue.message.object"] && !verdict.isPassed)
        #expect(world.loop.now <= .seconds(45))
    }

    @Test("A run on a phone that falls silent ends within 45 s", arguments: [0, 1, 2, 4])
    func fallsSilent(count: Int) throws {
        let world = VerificationWorld(Self.phone())
        var heard = 0
        world.onWrite = { text in
            heard += 1
            return heard > count ? nil : text
        }
        let verdict = try #require(world.verify(.rescue, hasStimulus: false).verdict)
        // If a phone forwards nothing at all, the checks of forwarding are skipped and do not fail: see ``hoards()``.
        #expect(verdict.isPassed == (count == 0))
        #expect(world.loop.now <= .seconds(45), "\(world.loop.now)")
    }

    @Test("Malformed messages among others fail their checks")
    func malformed() throws {
        let world = VerificationWorld(Self.phone { ($0.messages, $0.interval, $0.malformed) = (40, .zero, 100) })
        let verdict = try #require(world.verify(.rescue, hasStimulus: false) { $0.maySend = false }.verdict)
        #expect(verdict.failures.contains("rescue.message.object"))
        #expect(verdict.failures.contains("rescue.message.unended"))
        #expect(verdict.failures.contains("rescue.message.members"))
    }

    @Test("Lines of another protocol fail the message checks, and no check passes")
    func noMessages() throws {
        let folder = TemporaryFolder()
        let script = try AnswerScript(path: folder.write("< BALANCE B3 v1.0\n", to: "script"))
        let world = VerificationWorld(ScriptedFirmware(script: script))
        let verdict = try #require(world.verify(.rescue, hasStimulus: false) { $0.maySend = false }.verdict)
        #expect(verdict.failures == ["rescue.message.object", "rescue.message.unended"])
        #expect(verdict.passedCount == 0, "\(verdict.results.map { ($0.id, $0.outcome) })")
    }

    @Test("A flawed phone fails only the check of its flaw", arguments: Mutant.phones)
    func isFound(mutant: Mutant) throws {
        let verdict = try #require(VerificationWorld(Self.phone(), mutant).verify(.rescue).verdict)
        #expect(verdict.failures == [mutant.kills], "\(verdict.results.filter(\.isFailure))")
    }

    @Test("Every check has a flawed phone")
    func everyCheckIsNeeded() {
        #expect(Mutant.phones.map(\.kills).sorted() == FamilyVerification.rescue.checks.map(\.id).sorted())
    }

    @Test(
        "Only valid JSON objects are accepted",
        arguments: [
            "{}", "{\"a\":1}", "{ \"a\" : [ -1.5e3 , {\"b\":null} ] }", "{\"a\":\"\\u00e4\\ud83c\\udf0a\"}",
            "{\"a\":01}", "{\"a\":.5}", "{\"a\":NaN}", "{\"a\":1,}", "{\"a\":\"\\ud800\"}", "{\"a\":\"\n\"}", "{a:1}",
            "{\"a\":1} ", "{\"a\":1e999}", "[]", "",
        ])
    func json(text: String) {
        let isObject =
            ["{}", "{\"a\":1}", "{\"a\":1e999}"].contains(text) || text.contains("null") || text.contains("udf0a")
        #expect((JSONValue(received: Array(text.utf8)) != nil) == isObject)
    }

    @Test("JSON beyond the nesting limit is rejected", arguments: ["{\"a\":", "["], [16, 17, 60_000])
    func nested(opening: String, depth: Int) {
        let isObject = opening != "["
        let (begin, end) = isObject ? ("", "1") : ("{\"a\":", "1")
        let count = isObject ? depth : depth - 1
        let text =
            begin + String(repeating: opening, count: count) + end
            + String(repeating: isObject ? "}" : "]", count: count)
            + (isObject ? "" : "}")
        #expect((JSONValue(received: Array(text.utf8)) != nil) == (depth <= 16))
    }

    @Test("A phone that sends a deeply nested object fails")
    func nestedMessage() throws {
        let world = VerificationWorld(Self.phone())
        let (depth, piece) = (40_000, "{\"a\":")
        world.loop.at(.milliseconds(10)) {
            world.link.arrive(
                Array((String(repeating: piece, count: depth) + "1" + String(repeating: "}", count: depth)).utf8))
        }
        let verdict = try #require(world.verify(.rescue, hasStimulus: false) { $0.maySend = false }.verdict)
        #expect(verdict.failures == ["rescue.message.object"])
    }

    @Test(
        "An endless line or object is cut at the length limit, and the next one is whole",
        arguments: [false, true])
    func endless(isObject: Bool) {
        var lines = HeardLines(isObject ? .objects : .lines)
        lines.append(Array((isObject ? "{\"a\":\"" : "").utf8), at: .zero)
        for second in 0..<100 { lines.append([UInt8](repeating: 0x58, count: 10_000), at: .seconds(second)) }
        #expect(lines.next()?.bytes.count == HeardLines.lengthLimit)
        #expect(lines.next() == nil)
        lines.append(Array((isObject ? "\"}{\"a\":1}" : "\nOK\r\n").utf8), at: .seconds(100))
        #expect(lines.next()?.text == (isObject ? "{\"a\":1}" : "OK"))
        #expect(lines.next() == nil && lines.takeFragment().isEmpty)
    }

    @Test("NULs before an abandoned line do not count for the next line")
    func abandoned() {
        var lines = HeardLines(.lines)
        lines.append([0, 0x4F], at: .zero)
        #expect(lines.takeFragment() == [0x4F])
        lines.append(Array("OK\n".utf8), at: .zero)
        #expect(lines.next()?.hasNULs == false)
    }
}
