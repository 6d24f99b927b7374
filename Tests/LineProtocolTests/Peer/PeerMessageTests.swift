import LineProtocol
import Testing

@Suite struct PeerMessageTests {
    @Test(arguments: ["hello", "Hello", "ON AIR", "on/off", "GET it", "IMG_END", "Grüße\t☂", " x "])
    func `A line that is no command of the protocol is a message`(text: String) throws {
        #expect(try PeerMessage(text).text == text)
    }

    @Test(
        arguments: [
            ("", .empty), ("  ", .empty), ("a\nb", .severalLines), ("a\r", .severalLines), ("ON", .isCommand),
            ("off", .isCommand), (" On ", .isCommand), ("GET", .isCommand), ("get_image", .isCommand),
        ] as [(String, PeerMessage.Flaw)])
    func `Text that is empty, a command or several lines is not a message`(text: String, flaw: PeerMessage.Flaw) {
        #expect(throws: flaw) { try PeerMessage(text) }
    }

    @Test func `A peer shows at most 500 characters, whatever their size in bytes`() throws {
        #expect(try PeerMessage(String(repeating: "雨", count: 500)).shownCharacterCount == 500)
        #expect(try PeerMessage(String(repeating: "e\u{301}", count: 501)).shownCharacterCount == 500)
        #expect(try PeerMessage("x").shownCharacterCount == 1)
    }

    @Test func `A command is a line, or a packet without a line end`() {
        for (command, text) in [
            (.hello, "Hello"), (.toggle(true), "ON"), (.toggle(false), "OFF"), (.getImage, "GET_IMAGE"),
        ] as [(PeerCommand, String)] {
            #expect(command.bytes(keepsPacketBounds: false) == Array((text + "\n").utf8))
            #expect(command.bytes(keepsPacketBounds: true) == Array(text.utf8))
        }
    }
}
