import Testing

@testable import Terminal

@Suite("Columns of a terminal")
struct ColumnTests {
    @Test("Columns are counted as a terminal displays them")
    func counted() {
        #expect("abc".columns == 3)
        #expect("泵".columns == 2)
        #expect("e\u{301}".columns == 1)
        #expect("👩‍🔧".columns == 2)
    }

    @Test("Counting the columns of ASCII by bytes agrees with counting by characters")
    func ascii() {
        let scalars = (UInt8(0)..<0x80).map { Unicode.Scalar($0) }
        let texts: [String] = scalars.flatMap { first -> [String] in
            [String(first)] + (scalars + ["\u{301}", "\u{FE0F}", "泵"]).map { "a\(first)\($0)b" }
        }
        #expect(texts.filter { $0.columns != String.columnsOfCharacters(in: $0) } == [])
    }

    @Test(
        "Only trailing blanks are trimmed, and none that is part of a character",
        arguments: [
            ("", ""), ("   ", ""), ("ab", "ab"), ("  a b  ", "  a b"), ("泵 ", "泵"), ("a\t ", "a\t"),
            ("a \u{301}", "a \u{301}"), ("\u{600} ", "\u{600} "),
        ])
    func trimmed(text: String, trimmed: String) { #expect(text.trimmingBlanks == trimmed) }

    @Test("Text is cut and padded by displayed columns")
    func cut() {
        #expect("abcdef".cut(to: 4) == "abc…")
        #expect("泵泵泵".cut(to: 4) == "泵…")
        #expect("abc".cut(to: 3) == "abc")
        #expect("abc".cut(to: 0) == "")
        #expect("泵".padded(to: 4) == "泵  ")
        #expect("abcdef".padded(to: 4) == "abcdef")
    }
}
