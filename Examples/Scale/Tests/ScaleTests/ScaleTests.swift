import DeviceTestKit
import FirmwareSim
import LineProtocol
import Scale
import ScaleSim
import Testing

@Suite("The scale's protocol: the host's side against the simulated scale")
struct ScaleTests {
    /// Sends `text` to the scale, and returns its lines within the next second as the host parses them.
    private func answers(to text: String, _ scale: inout ScaleFirmware, at instant: Duration) -> [ScaleMessage] {
        scale.receive(Array(text.utf8), at: instant)
        return messages(of: &scale, until: instant + .seconds(1))
    }

    /// Returns the lines that the scale sends until `instant`, as the host parses them.
    private func messages(of scale: inout ScaleFirmware, until instant: Duration) -> [ScaleMessage] {
        scale.advance(to: instant).map { emission in
            #expect(emission.bytes.suffix(2) == [0x0D, 0x0A])
            return ScaleFamily.message(line: Array(emission.bytes.dropLast(2)).span, ending: .lineFeed)
        }
    }

    @Test("WEIGH reports the load; after TARE, the change of the load since then") func weighing() {
        var scale = ScaleFirmware(load: 1234)
        #expect(answers(to: "WEIGH\n", &scale, at: .zero) == [.weight(123.4)])
        #expect(answers(to: "TARE\n", &scale, at: .seconds(1)) == [.tared])
        scale.put(-34, at: .seconds(2))
        #expect(answers(to: "WEIGH\n", &scale, at: .seconds(2)) == [.weight(-3.4)])
    }

    @Test("A session asks for the weight") func session() async throws {
        let link = ScriptedLink { $0 == "WEIGH\n" ? "WEIGHT:123.4\r\n" : nil }
        let session = try await Session<ScaleFamily>.begin(over: link, clock: ManualClock())
        #expect(try await session.perform(.weigh) == .weight(123.4))
        await session.close()
    }

    @Test("An overload is reported unsolicited, and WEIGH then fails") func overload() {
        var scale = ScaleFirmware()
        scale.put(60_000, at: .zero)
        #expect(messages(of: &scale, until: .seconds(1)) == [.overload])
        #expect(answers(to: "WEIGH\n", &scale, at: .seconds(1)) == [.error("OVERLOAD")])
    }

    @Test("After an overload the weight is unknown, and after lost contact the whole state") func state() {
        var state = ScaleState()
        state.apply(.weight(5))
        #expect(state.grams == 5)
        state.overhear(.overload)
        #expect(state.grams == nil)
        #expect(state.isOverloaded == true)
        state.becomeUncertain()
        #expect(state == ScaleState())
    }
}
