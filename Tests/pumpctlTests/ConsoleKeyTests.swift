import Testing

@testable import pumpctl

@Suite struct ConsoleKeyTests {
    private let start = ContinuousClock.now

    private func text(_ keys: [KeyParser.Key]) -> [String] {
        keys.map { key in key.reduce(into: "") { $0.unicodeScalars.append($1) } }
    }

    @Test func anEscapeSequenceIsOneKeyHoweverItIsCut() {
        var parser = KeyParser()
        #expect(text(parser.keys(Array("a\u{1B}".utf8), at: start)) == ["a"])
        #expect(text(parser.keys(Array("[1;5".utf8), at: start)) == [])
        #expect(text(parser.keys(Array("CbO\u{1B}OHc".utf8), at: start)) == ["\u{1B}[1;5C", "b", "O", "\u{1B}OH", "c"])
    }

    @Test func aCharacterOfSeveralBytesIsOneKey() {
        var parser = KeyParser()
        let bytes = Array("é€".utf8)
        #expect(text(parser.keys(Array(bytes[..<3]), at: start)) == ["é"])
        #expect(text(parser.keys(Array(bytes[3...]), at: start)) == ["€"])
        #expect(text(parser.keys([0xFF, 0xC3, 0x41], at: start)) == ["A"])
    }

    @Test func whatIsTypedAfterEscapeIsText() {
        var parser = KeyParser()
        #expect(parser.keys([0x1B], at: start) == [])
        #expect(text(parser.keys(Array("ON".utf8), at: start.advanced(by: .seconds(1)))) == ["O", "N"])
    }
}
