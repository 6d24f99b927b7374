import DeviceTestKit
import LineProtocol
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct StormLiveRowsTests {
    @Test func `Live rows come one by one, without the text of the log`() async throws {
        let link = ScriptedLink(
            backlog: ["LIVE LOG: 1 2 3 4\r\nLOG Values: a\n", "b\nLIVE LOG: 1 2", " 3 5\r\nLIVE LOG: odd\r\n"])
        var rows = StormLiveRows(over: link).makeAsyncIterator()
        for row in ["1 2 3 4", "1 2 3 5", "odd"] { #expect(try await rows.next() == Array(row.utf8)) }
        await link.close()
        #expect(try await rows.next() == nil)
    }

    @Test func `Packets of the live characteristic are rows`() async throws {
        let link = ScriptedLink(backlog: ["1 2 3 4", "1 2 3 5"], keepsPacketBounds: true)
        var rows = StormLiveRows(over: link, from: .live).makeAsyncIterator()
        for row in ["1 2 3 4", "1 2 3 5"] { #expect(try await rows.next() == Array(row.utf8)) }
    }

    @Test func `A row that fills its packet may be cut, unless it has a line end`() async throws {
        for (row, mayBeCut) in [("1 2 3 4.5", true), ("1 2 3 45\n", false), ("1 2 3 45", false)] {
            let link = ScriptedLink(backlog: [row], keepsPacketBounds: true, packetCapacity: 9)
            var rows = StormLiveRows(over: link, from: .live).makeAsyncIterator()
            #expect(try await rows.next() != nil)
            #expect(rows.mayBeCut == mayBeCut, "\(row)")
        }
    }

    @Test func `In a stream no row counts as cut`() async throws {
        let link = ScriptedLink(backlog: ["LIVE LOG: 1 2 3 4\n"], packetCapacity: 18)
        var rows = StormLiveRows(over: link).makeAsyncIterator()
        #expect(try await rows.next() != nil)
        #expect(!rows.mayBeCut)
    }

    @Test func `The loss of the link is thrown`() async {
        let link = ScriptedLink(backlog: ["LIVE LOG: 1 2 3 4"])
        let gone = LinkError(.disconnected, name: "scripted", activity: "receive")
        await link.end(with: gone)
        var rows = StormLiveRows(over: link).makeAsyncIterator()
        await #expect(throws: gone) { try await rows.next() }
    }
}
