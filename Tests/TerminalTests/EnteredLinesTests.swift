import Terminal
import Testing

@Suite("Entered lines")
struct EnteredLinesTests {
    private func lines(_ inputs: [LineScreen.Input]) -> [String] {
        var entered = EnteredLines()
        return inputs.flatMap { entered.take($0) }.map { String(decoding: $0, as: UTF8.self) }
    }

    @Test func `A typed line arrives whole`() {
        #expect(lines([.line(Array("one".utf8)), .line([]), .end]) == ["one", ""])
    }

    @Test func `A pipe's lines arrive in any pieces, with or without a last line end`() {
        let pieces = ["on", "e\r\ntwo\n\nth", "ree"].map { LineScreen.Input.bytes(Array($0.utf8)) }
        #expect(lines(pieces) == ["one", "two", ""])
        #expect(lines(pieces + [.end]) == ["one", "two", "", "three"])
        #expect(lines(pieces + [.bytes([0x0A]), .end]) == ["one", "two", "", "three"])
    }
}
