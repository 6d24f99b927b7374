import Terminal
import Testing

@Suite("Columns of a terminal")
struct ColumnTests {
    @Test("They are counted as a terminal shows them")
    func counted() {
        #expect("abc".columns == 3)
        #expect("泵".columns == 2)
        #expect("e\u{301}".columns == 1)
        #expect("👩‍🔧".columns == 2)
    }

    @Test("What is cut or filled has as many as are there")
    func cut() {
        #expect("abcdef".cut(to: 4) == "abc…")
        #expect("泵泵泵".cut(to: 4) == "泵…")
        #expect("abc".cut(to: 3) == "abc")
        #expect("abc".cut(to: 0) == "")
        #expect("泵".padded(to: 4) == "泵  ")
        #expect("abcdef".padded(to: 4) == "abcdef")
    }
}
