import LineProtocol
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1))) struct StormLiveRowsTests {
    @Test func `Rows come one by one, and text of the log does not`() async throws {
        let link = ScriptedLink(
            backlog: ["LIVE LOG: 1 2 3 4\r\nLOG Values: a\n", "b\nLIVE LOG: 1 2", " 3 5\r\nLIVE LOG: odd\r\n"])
        var rows = StormLiveRows(over: link).makeAsyncIterator()
        for row in ["1 2 3 4", "1 2 3 5", "odd"] { #expect(try await rows.next() == Array(row.utf8)) }
        await link.close()
        #expect(try await rows.next() == nil)
    }

    @Test func `The live characteristic's packets are rows`() async throws {
        let link = ScriptedLink(backlog: ["1 2 3 4", "1 2 3 5"], keepsPacketBounds: true)
        var rows = StormLiveRows(over: link, from: .live).makeAsyncIterator()
        for row in ["1 2 3 4", "1 2 3 5"] { #expect(try await rows.next() == Array(row.utf8)) }
    }

    @Test func `The end of the link is thrown`() async {
        let link = ScriptedLink(backlog: ["LIVE LOG: 1 2 3 4"])
        let gone = LinkError(.disconnected, name: "scripted", activity: "receive")
        await link.end(with: gone)
        var rows = StormLiveRows(over: link).makeAsyncIterator()
        await #expect(throws: gone) { try await rows.next() }
    }
}
