import FirmwareSim
import LineProtocol
import TestSupport
import Testing

@testable import Verification

@Suite("Verifying a rescue phone")
struct RescueVerificationTests {
    private static func phone(_ change: (inout RescueFirmwareOptions) -> Void = { _ in }) -> RescueFirmware {
        var options = RescueFirmwareOptions()
        change(&options)
        return RescueFirmware(options: options)
    }

    @Test("A phone that keeps the protocol passes every check")
    func passes() throws {
        let world = VerificationWorld(Self.phone())
        let verdict = try #require(world.verify(.rescue).verdict)
        for result in verdict.results { #expect(result.outcome == .passed, "\(result.id) \(result.outcome)") }
        #expect(verdict.isPassed)
        #expect(world.loop.now < .seconds(45), "\(world.loop.now)")
    }

    @Test("A message that comes in pieces of any size is as good", arguments: [1, 20, 514])
    func pieces(length: Int) throws {
        let verdict = try #require(VerificationWorld(Self.phone { $0.split = length }).verify(.rescue).verdict)
        #expect(verdict.isPassed && verdict.skipped.isEmpty)
    }

    @Test("Without leave nothing at all is sent")
    func withoutLeave() throws {
        let world = VerificationWorld(Self.phone())
        let verdict = try #require(world.verify(.rescue, hasStimulus: false) { $0.maySend = false }.verdict)
        #expect(world.written.isEmpty)
        #expect(verdict.isPassed && verdict.aftermath == .untouched)
        #expect(verdict.skipped == FamilyVerification.rescue.checks.filter { !$0.needs.isEmpty }.map(\.id))
        #expect(verdict.passedCount == 11)
    }

    @Test("What is sent says that it is a test, is never an SOS, and has an id of its own each time")
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

    @Test("A phone that keeps to itself what it receives is judged by what the stimulus counts, or not at all")
    func hoards() throws {
        let counted = try #require(VerificationWorld(Self.phone { $0.forwards = false }).verify(.rescue).verdict)
        #expect(counted.isPassed)
        #expect(counted.skipped == ["rescue.received.whole", "rescue.received.pending"])
        let unseen = try #require(
            VerificationWorld(Self.phone { $0.forwards = false }).verify(.rescue, hasStimulus: false).verdict)
        #expect(unseen.isPassed)
        #expect(unseen.skipped.filter { $0.hasPrefix("rescue.received") }.count == 6)
    }

    @Test("A phone that says nothing has not passed", arguments: [false, true])
    func mute(maySend: Bool) throws {
        let world = VerificationWorld(Self.phone { ($0.messages, $0.forwards) = (0, false) })
        let verdict = try #require(world.verify(.rescue, hasStimulus: false) { $0.maySend = maySend }.verdict)
        #expect(verdict.failures == ["rescue.message.object"] && !verdict.isPassed)
        #expect(world.loop.now <= .seconds(45))
    }

    @Test("A phone that falls silent, whenever it does, is through within 45 s", arguments: [0, 1, 2, 4])
    func fallsSilent(count: Int) throws {
        let world = VerificationWorld(Self.phone())
        var heard = 0
        world.onWrite = { text in
            heard += 1
            return heard > count ? nil : text
        }
        let verdict = try #require(world.verify(.rescue, hasStimulus: false).verdict)
        #expect(verdict.isPassed == (count == 0))
        #expect(world.loop.now <= .seconds(45), "\(world.loop.now)")
    }

    @Test("Malformed messages between others are found")
    func malformed() throws {
        let world = VerificationWorld(Self.phone { ($0.messages, $0.interval, $0.malformed) = (40, .zero, 100) })
        let verdict = try #require(world.verify(.rescue, hasStimulus: false) { $0.maySend = false }.verdict)
        #expect(verdict.failures.contains("rescue.message.object"))
        #expect(verdict.failures.contains("rescue.message.unended"))
        #expect(verdict.failures.contains("rescue.message.id"))
    }

    @Test("Every check has a phone that it alone finds", arguments: Mutant.phones)
    func isFound(mutant: Mutant) throws {
        let verdict = try #require(VerificationWorld(Self.phone(), mutant).verify(.rescue).verdict)
        #expect(verdict.failures == [mutant.kills], "\(verdict.results.filter(\.isFailure))")
    }

    @Test("No check is without one")
    func everyCheckIsNeeded() {
        #expect(Mutant.phones.map(\.kills).sorted() == FamilyVerification.rescue.checks.map(\.id).sorted())
    }

    @Test(
        "What is no JSON object is none",
        arguments: [
            "{}", "{\"a\":1}", "{ \"a\" : [ -1.5e3 , {\"b\":null} ] }", "{\"a\":\"\\u00e4\\ud83c\\udf0a\"}",
            "{\"a\":01}", "{\"a\":.5}", "{\"a\":NaN}", "{\"a\":1,}", "{\"a\":\"\\ud800\"}", "{\"a\":\"\n\"}", "{a:1}",
            "{\"a\":1} ", "{\"a\":1e999}", "[]", "",
        ])
    func json(text: String) {
        let isObject = ["{}", "{\"a\":1}"].contains(text) || text.contains("null") || text.contains("udf0a")
        #expect((JSONMembers(Array(text.utf8)) != nil) == isObject)
    }
}
