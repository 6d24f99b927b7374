import LineProtocol
import Testing

@testable import Sharing

@Suite("Rules of a shared storm sensor")
struct StormRulesTests {
    private static let onStream = [
        RulesTable(
            "a log goes to the asker byte for byte", ["LOG Values: 1 2 3 4\n5 6 7 8\r\n"],
            ["asker: LOG Values: 1 2 3 4\n5 6 7 8\r\n"]),
        RulesTable("an empty log keeps its line end", ["LOG Values: \r\n"], ["asker: LOG Values: \r\n"]),
        RulesTable(
            "a log may begin on the line behind its prefix", ["LOG Values: ", "\r", "\n1 2 3 4\n"],
            ["asker: LOG Values: \r\n1 2 3 4\n"]),
        RulesTable(
            "live rows go to all, whole", ["LIVE LOG: 1 2", " 3 4.5\n", "LIVE LOG: 1 2 3 5\r\n"],
            ["all: LIVE LOG: 1 2 3 4.5\r\n", "all: LIVE LOG: 1 2 3 5\r\n"]),
        RulesTable(
            "a live row stands between two lines of the log",
            ["LOG Values: 1 2 3 4\nLIVE LOG: 9 9 9 9\r\n5 6 ", "7 8\n"],
            ["asker: LOG Values: 1 2 3 4\n", "all: LIVE LOG: 9 9 9 9\r\n", "asker: 5 6 7 8\n"]),
        RulesTable("the echo of the command is dropped", ["GET_LOG\r\nLOG Values: 1\n"], ["asker: LOG Values: 1\n"]),
        RulesTable(
            "what looks like a prefix is text at the end", ["LOG Values: 1\nLIVE"], ["asker: LOG Values: 1\nLIVE"]),
        RulesTable("text without a prefix is of the log", ["1 2 3 4\n"], ["asker: 1 2 3 4\n"]),
        RulesTable(
            "a log that begins again shows it", ["LOG Values: 1\nLOG Values: 1\n"],
            ["asker: LOG Values: 1\nLOG Values: 1\n"]),
        RulesTable(
            "a restart breaks the log, and its text goes to the asker",
            ["LOG Values: 1 2", "\r\nets Jul 29 2019 12:21:46\r\n"],
            ["asker: LOG Values: 1 2\r\nets Jul 29 2019 12:21:46\r\n", "broken"]),
        RulesTable(
            "a restart cuts a live row, which nobody gets", ["LOG Values: 1\nLIVE LOG: 1 2 3 5rst:0x1 (POWERON)\r\n"],
            ["asker: LOG Values: 1\nrst:0x1 (POWERON)\r\n", "broken"]),
        RulesTable(
            "a line of any length goes on", ["LOG Values: " + String(repeating: "7", count: 5000), "8\n"],
            ["asker: LOG Values: " + String(repeating: "7", count: 5000) + "8\n"]),
    ]

    @Test("A log on a stream goes to the requester, live rows to all clients", arguments: onStream)
    func stream(table: RulesTable) {
        var rules = StormRules(of: .backup, keepsPacketBounds: false)
        rules.begin(packetCapacity: nil)
        #expect(table.run(rules) == table.pieces)
    }

    @Test("A log on a stream that is cut anywhere goes to the requester, live rows to all clients", arguments: onStream)
    func bytes(table: RulesTable) {
        var rules = StormRules(of: .backup, keepsPacketBounds: false)
        rules.begin(packetCapacity: nil)
        let cut = RulesTable(table.name, table.arrivals.joined().unicodeScalars.map { String($0) }, table.pieces)
        #expect(cut.run(rules) == table.pieces)
    }

    private static let long = String(repeating: "7", count: 1100)

    private static let inPackets = [
        RulesTable(
            "lines are put together", ["LOG Values: 1 2 3 4\n5 6", " 7 8\n9 9 9 9\n"],
            ["asker: LOG Values: 1 2 3 4\n5 6 7 8\n9 9 9 9\n"]),
        RulesTable(
            "rows without an end get one", ["LOG Values: 1 2 3 4.00", "5 6 7 8.00", "9 9 9 9.00"],
            ["asker: LOG Values: 1 2 3 4.00\n5 6 7 8.00\n9 9 9 9.00\n"]),
        RulesTable(
            "one prefix is enough", ["LOG Values: 1 2 3 4\n", "LOG Values: 5 6 7 8\n"],
            ["asker: LOG Values: 1 2 3 4\n5 6 7 8\n"]),
        RulesTable(
            "a log that begins again shows it", ["LOG Values: 1 2 3 4\n", "5 6 7 8\n", "LOG Values: 1 2 3 4\n"],
            ["asker: LOG Values: 1 2 3 4\n5 6 7 8\nLOG Values: 1 2 3 4\n"]),
        RulesTable("a prefix alone is an empty log", ["LOG Values: "], ["asker: LOG Values: \n"]),
        RulesTable(
            "the prefix may come alone", ["LOG Values: ", "1 2 3 4\n"], ["asker: LOG Values: 1 2 3 4\n"]),
        RulesTable(
            "a live row stands between two lines of the log",
            ["LOG Values: 1 2 3 4\n5 6", "LIVE LOG: 9 9 9 9", " 7 8\n"],
            ["asker: LOG Values: 1 2 3 4\n", "all: LIVE LOG: 9 9 9 9\r\n", "asker: 5 6 7 8\n"]),
        RulesTable(
            "a line that is too long to be kept is cut by a live row",
            ["LOG Values: " + long, "LIVE LOG: 9 9 9 9", "8\n"],
            ["asker: LOG Values: " + long + "\n", "all: LIVE LOG: 9 9 9 9\r\n", "asker: 8\n"]),
        RulesTable("the echo of the command is dropped", ["GET_LOG", "LOG Values: 1\n"], ["asker: LOG Values: 1\n"]),
    ]

    @Test("A log in packets goes to the requester, live rows to all clients", arguments: inPackets)
    func packets(table: RulesTable) {
        var rules = StormRules(of: .backup, keepsPacketBounds: true)
        rules.begin(packetCapacity: nil)
        #expect(table.run(rules) == table.pieces)
    }

    @Test("A full packet without a line end breaks the log once the next one does not continue it")
    func gap() {
        var rules = StormRules(of: .backup, keepsPacketBounds: true)
        rules.begin(packetCapacity: 20)
        let pieces = ["LOG Values: 1 2 3 4\n", "5 6 7 8.00\n1 2 3 4.0", "5 6 7 9.00\n"].map {
            rules.take(Array($0.utf8))
        }
        #expect(!pieces[1].contains(.broken))
        #expect(pieces[2].contains(.broken))
        #expect(!rules.finish().contains(.broken), "it is told once")
    }

    @Test("Raw measurements become live rows")
    func live() {
        let table = RulesTable(
            "", ["1 2 3 4.5", "1 2 3 5"], ["all: LIVE LOG: 1 2 3 4.5\r\n", "all: LIVE LOG: 1 2 3 5\r\n"])
        #expect(table.run(StormRules(of: .live, keepsPacketBounds: true)) == table.pieces)
    }

    @Test("An unrequested packet of a log is not kept", arguments: [true, false])
    func unasked(keepsPacketBounds: Bool) {
        var rules = StormRules(of: .backup, keepsPacketBounds: keepsPacketBounds)
        // A speaker without an asker drops the bytes for the asker.
        #expect(rules.take(Array("1 2 3 4".utf8)) == [.forAsker(Array("1 2 3 4".utf8))])
        #expect(rules.finish() == [])
    }

    @Test(
        "Only the exact GET_LOG expects an answer",
        arguments: [("GET_LOG", true), ("get_log", false), ("GET_LOG ", false), ("HELLO", false)])
    func request(line: String, isAnswered: Bool) {
        let line = Array(line.utf8)
        #expect(
            StormRules(of: .backup, keepsPacketBounds: false).request(line)
                == StreamRequest(bytes: line + [0x0A], isAnswered: isAnswered))
        #expect(
            StormRules(of: .backup, keepsPacketBounds: true).request(line)
                == StreamRequest(bytes: line, isAnswered: isAnswered))
    }

    @Test("A log without a last line end leaves the next live row intact")
    func lastLine() {
        var rules = StormRules(of: .backup, keepsPacketBounds: false)
        rules.begin(packetCapacity: nil)
        _ = rules.take(Array("LOG Values: 1 2 3 4".utf8)) + rules.finish()
        #expect(rules.take(Array("LIVE LOG: 1 2 3 4\r\n".utf8)).map(\.text) == ["all: LIVE LOG: 1 2 3 4\r\n"])
    }
}
