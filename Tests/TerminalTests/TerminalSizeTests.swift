import Testing

@testable import Terminal

@Suite("Terminal size")
struct TerminalSizeTests {
    @Test("A terminal size is bounded, whatever its source")
    func bounds() {
        #expect(TerminalSize.bounded(columns: .max, rows: .max) == TerminalSize(columns: 1000, rows: 500))
        #expect(TerminalSize.bounded(columns: 1, rows: 0) == TerminalSize(columns: 30))
        #expect(TerminalSize.bounded(columns: -5, rows: .min) == TerminalSize.bounded(columns: nil, rows: nil))
        #expect(TerminalSize.bounded(columns: nil, rows: nil) == TerminalSize(columns: 80))
    }
}
