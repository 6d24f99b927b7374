import Testing

@testable import Terminal

@Suite struct KeyParserTests {
    private let start = ContinuousClock.now

    private func text(_ keys: [KeyParser.Key]) -> [String] {
        keys.map { key in key.reduce(into: "") { $0.unicodeScalars.append($1) } }
    }

    @Test func `An escape sequence is one key, even if its bytes arrive in pieces`() {
        var parser = KeyParser()
        #expect(text(parser.keys(Array("a\u{1B}".utf8), at: start)) == ["a"])
        #expect(text(parser.keys(Array("[1;5".utf8), at: start)) == [])
        #expect(text(parser.keys(Array("CbO\u{1B}OHc".utf8), at: start)) == ["\u{1B}[1;5C", "b", "O", "\u{1B}OH", "c"])
    }

    @Test(arguments: ["[24~", "OP", "[[A", "[6~", "[2~", "[28;2~", "[200~", "[1;2C", "OM"])
    func `A sequence that the editor does not know is one key, and counts as foreign`(sequence: String) {
        var parser = KeyParser()
        let keys = parser.keys(Array("2\u{1B}\(sequence)3".utf8), at: start)
        #expect(text(keys) == ["2", "\u{1B}\(sequence)", "3"])
        #expect(keys.map(KeyParser.isForeignSequence) == [false, true, false])
    }

    @Test(arguments: ["[A", "OD", "[3~", "[1;5C", "OH", "b"])
    func `A sequence that the editor knows does not count as foreign`(sequence: String) {
        var parser = KeyParser()
        let keys = parser.keys(Array("\u{1B}\(sequence)".utf8), at: start)
        #expect(text(keys) == ["\u{1B}\(sequence)"])
        #expect(!keys.contains(where: KeyParser.isForeignSequence))
    }

    @Test(arguments: ["é", "€", "😀"])
    func `Alt with a character of several bytes is one key, which counts as foreign`(character: String) {
        var parser = KeyParser()
        let keys = parser.keys(Array("2\u{1B}\(character)3".utf8), at: start)
        #expect(keys.map(KeyParser.isForeignSequence) == [false, true, false])
        #expect(keys.first == ["2"] && keys.last == ["3"])
    }

    @Test func `A character of several bytes is one key`() {
        var parser = KeyParser()
        let bytes = Array("é€".utf8)
        #expect(text(parser.keys(Array(bytes[..<3]), at: start)) == ["é"])
        #expect(text(parser.keys(Array(bytes[3...]), at: start)) == ["€"])
    }

    @Test(
        arguments: [[0xFF, 0xC3, 0x41], [0xE2, 0x82, 0x0A], [0xF4, 0x8F, 0x82, 0x80], [0xC3, 0xA9, 0xA9, 0x42]]
            as [[UInt8]])
    func `Bytes that are not UTF-8 are kept unchanged`(bytes: [UInt8]) {
        for cut in 0...bytes.count {
            var parser = KeyParser()
            let keys = parser.keys(Array(bytes[..<cut]), at: start) + parser.keys(Array(bytes[cut...]), at: start)
            #expect(RawByte.bytes(of: text(keys).joined()) == bytes)
        }
    }

    @Test func `An incomplete character before an escape sequence is not lost`() {
        var parser = KeyParser()
        let keys = text(parser.keys([0xC3] + Array("\u{1B}[D".utf8), at: start))
        #expect(keys.map { RawByte.bytes(of: $0) } == [[0xC3], Array("\u{1B}[D".utf8)])
    }

    @Test func `Letters typed a second after the Escape key are text`() {
        var parser = KeyParser()
        #expect(parser.keys([0x1B], at: start) == [])
        #expect(text(parser.keys(Array("ON".utf8), at: start.advanced(by: .seconds(1)))) == ["O", "N"])
    }
}
