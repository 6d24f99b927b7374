import Testing

@testable import Sharing

@Suite("Rules of a shared peer")
struct PeerRulesTests {
    private static let chunk = String(repeating: "QUJD", count: 20)

    private static let asked = [
        RulesTable(
            "an image goes to the asker",
            ["IMG_BEGIN a.png 60\r\n", "\(chunk)\r\n", "IMG_END\r\n"],
            ["asker: IMG_BEGIN a.png 60\r\n\(chunk)\r\nIMG_END\r\n", "end"]),
        RulesTable(
            "the last of its lines may be short",
            ["IMG_BEGIN a.png 61\r\n\(chunk)\r\nQQ==\r\nIMG_END\r\n"],
            ["asker: IMG_BEGIN a.png 61\r\n\(chunk)\r\nQQ==\r\nIMG_END\r\n", "end"]),
        RulesTable(
            "text, toggles and greetings go to all in the middle of it",
            ["IMG_BEGIN a.png 60\r\nHELLO from Q @ 1970\r\nON\r\nGood morning\r\nHello ack\r\n\(chunk)\r\nIMG_END\r\n"],
            [
                "asker: IMG_BEGIN a.png 60\r\n", "all: HELLO from Q @ 1970\r\n", "all: ON\r\n", "all: Good morning\r\n",
                "all: Hello ack\r\n", "asker: \(chunk)\r\nIMG_END\r\n", "end",
            ]),
        RulesTable(
            "a refusal ends it", ["IMG_ERROR no_file_selected\r\n"], ["asker: IMG_ERROR no_file_selected\r\n", "end"]),
        RulesTable(
            "an image that is none still ends", ["IMG_BEGIN a.png\r\n\(chunk)\r\nIMG_END\r\n"],
            ["asker: IMG_BEGIN a.png\r\n\(chunk)\r\nIMG_END\r\n", "end"]),
        RulesTable(
            "the end of an image asked for earlier is not its end",
            ["IMG_END\r\n", "IMG_BEGIN a.png 3\r\nQUJD\r\nIMG_END\r\n"],
            ["asker: IMG_END\r\nIMG_BEGIN a.png 3\r\nQUJD\r\nIMG_END\r\n", "end"]),
        RulesTable(
            "a word behind the end is text", ["IMG_BEGIN a.png 3\r\nQUJD\r\nIMG_END\r\nHello\r\n"],
            ["asker: IMG_BEGIN a.png 3\r\nQUJD\r\nIMG_END\r\n", "end", "all: Hello\r\n"]),
    ]

    @Test("A requested image on a stream goes to the requester, everything else to all clients", arguments: asked)
    func stream(table: RulesTable) {
        var rules = PeerRules(keepsPacketBounds: false)
        rules.begin(packetCapacity: nil)
        #expect(table.run(rules) == table.pieces)
    }

    @Test("A requested image in packets goes to the requester, everything else to all clients", arguments: asked)
    func packets(table: RulesTable) {
        var rules = PeerRules(keepsPacketBounds: true)
        rules.begin(packetCapacity: nil)
        let lines = table.arrivals.joined().split(separator: "\r\n").map { String($0) }
        #expect(RulesTable(table.name, lines, []).run(rules) == table.pieces)
    }

    private static let unasked = [
        RulesTable(
            "text goes to all", ["Hello\r\n", "Good ", "morning\n"], ["all: Hello\r\n", "all: Good morning\r\n"]),
        RulesTable("toggles go to all", ["ON\r\noff\r\n"], ["all: ON\r\n", "all: off\r\n"]),
        RulesTable(
            // The rules pass the image to the asker, and a speaker without an asker drops it.
            "an image goes nowhere", ["IMG_BEGIN a.png 60\r\n\(chunk)\r\n"],
            ["asker: IMG_BEGIN a.png 60\r\n\(chunk)\r\n"]),
        RulesTable(
            // The limit is 4096 bytes, and é has two.
            "a line that is too long goes on as it arrived", [String(repeating: "é", count: 2050) + "\n"],
            ["all: " + String(repeating: "é", count: 2048), "all: éé\r\n"]),
    ]

    @Test("Without an image request, text and toggles go to all clients", arguments: unasked)
    func text(table: RulesTable) {
        #expect(table.run(PeerRules(keepsPacketBounds: false)) == table.pieces)
    }

    @Test("A packet is a line, whatever line ends it contains")
    func lineEnds() {
        let table = RulesTable("", ["one\ntwo\r\n", "three"], ["all: one two\r\n", "all: three\r\n"])
        #expect(table.run(PeerRules(keepsPacketBounds: true)) == table.pieces)
    }

    @Test("NULs around a line or at the end of a packet are ignored", arguments: [false, true])
    func nuls(keepsPacketBounds: Bool) {
        let image = ["IMG_BEGIN a.png 3\r\n\0", "QUJD\r\n\0", "IMG_END\r\n\0"]
        var rules = PeerRules(keepsPacketBounds: keepsPacketBounds)
        rules.begin(packetCapacity: nil)
        let table = RulesTable("", image, ["asker: IMG_BEGIN a.png 3\r\nQUJD\r\nIMG_END\r\n", "end"])
        #expect(table.run(rules) == table.pieces)
    }

    @Test("After a stalled image text goes to all clients again")
    func stalled() {
        var rules = PeerRules(keepsPacketBounds: false)
        rules.begin(packetCapacity: nil)
        _ = rules.take(Array("IMG_BEGIN a.png 60\nQUJD\n".utf8)) + rules.finish()
        #expect(rules.take(Array("Hello\n".utf8)).map(\.text) == ["all: Hello\r\n"])
    }

    @Test(
        "GET and GET_IMAGE expect an answer, in any letter case and with blanks around them",
        arguments: [
            ("GET", true), (" get_image ", true), ("Get_Image", true), ("GET it", false), ("ON", false),
            ("Hello", false),
        ])
    func request(line: String, isAnswered: Bool) {
        let line = Array(line.utf8)
        #expect(
            PeerRules(keepsPacketBounds: false).request(line)
                == StreamRequest(bytes: line + [0x0A], isAnswered: isAnswered))
        #expect(PeerRules(keepsPacketBounds: true).request(line) == StreamRequest(bytes: line, isAnswered: isAnswered))
    }
}
