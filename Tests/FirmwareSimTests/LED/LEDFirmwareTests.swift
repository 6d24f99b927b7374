import FirmwareSim
import Testing

@Suite("The LED board")
struct LEDFirmwareTests {
    /// Returns the board's reply to `text` within a second.
    private func say(_ text: String, _ board: inout LEDFirmware, at instant: Duration = .zero) -> String {
        board.receive(Array(text.utf8), at: instant)
        let emissions = board.advance(to: instant + .seconds(1))
        #expect(board.isQuiescent)
        return String(decoding: emissions.flatMap(\.bytes), as: UTF8.self)
    }

    @Test("The LED is set and read, and each command is answered")
    func values() {
        var board = LEDFirmware()
        #expect(say("LED\n", &board) == "LED:0\r\n")
        #expect(say("LED:1\n", &board, at: .seconds(1)) == "LED:1\r\n")
        #expect(board.isLit)
        #expect(say("LED\rLED:0\r\nLED\n", &board, at: .seconds(2)) == "LED:1\r\nLED:0\r\nLED:0\r\n")
        #expect(!board.isLit)
    }

    @Test("Unknown lines are ignored", arguments: ["led", "LED:", "LED:2", "LED: 1", " LED", "LED:10", "GET_LOG", ""])
    func otherLines(line: String) {
        var board = LEDFirmware(isLit: true)
        #expect(say("\(line)\n", &board) == "")
        #expect(board.isLit)
    }

    @Test("A line that is too long is ignored")
    func tooLong() {
        var board = LEDFirmware()
        #expect(say(String(repeating: "X", count: 300) + "\nLED\n", &board) == "LED:0\r\n")
    }

    @Test("A mute board sets its LED without a reply")
    func mute() {
        var board = LEDFirmware(answersSets: false)
        #expect(say("LED:1\n", &board) == "")
        #expect(say("LED\n", &board, at: .seconds(1)) == "LED:1\r\n")
    }

    @Test("A reset switches the LED off")
    func reset() {
        var board = LEDFirmware(isLit: true)
        board.reset(at: .seconds(1))
        #expect(say("LED\n", &board, at: .seconds(1)) == "LED:0\r\n")
    }

    @Test("A stuck LED keeps its state, despite commands, the verb light and a reset")
    func stuck() throws {
        var board = LEDFirmware(isLit: true)
        board.setStuck(true, at: .zero)
        #expect(say("LED:0\n", &board) == "LED:1\r\n")
        let light = try #require(LEDFirmware.verbs.first)
        try light.perform(&board, light.settings(["off"]), .seconds(1))
        #expect(board.isLit)
        board.reset(at: .seconds(1))
        #expect(board.isLit)
    }
}
