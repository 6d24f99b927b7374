import Testing

@testable import Terminal

@Suite("The size of a terminal")
struct TerminalSizeTests {
    @Test("It is bounded, whatever says it")
    func bounds() {
        #expect(TerminalSize.bounded(columns: .max, rows: .max) == TerminalSize(columns: 1000, rows: 500))
        #expect(TerminalSize.bounded(columns: 1, rows: 0) == TerminalSize(columns: 30))
        #expect(TerminalSize.bounded(columns: -5, rows: .min) == TerminalSize.bounded(columns: nil, rows: nil))
        #expect(TerminalSize.bounded(columns: nil, rows: nil) == TerminalSize(columns: 80))
    }
}
