import Testing

@testable import Terminal

@Suite("Progress bars")
struct ProgressBarTests {
    @Test("A bar shows the percentage, the sizes and the remaining time")
    func bar() {
        #expect(
            ProgressBar.text(3000, of: 12_000, in: .seconds(2), isColoured: false)
                == "[######------------------] 25 %  3 of 12 kB  6 s left")
        #expect(
            ProgressBar.text(12_000, of: 12_000, in: .seconds(2), isColoured: true)
                == "[\u{1B}[32m########################\u{1B}[0m] 100 %  12 of 12 kB")
    }

    @Test("More than the announced amount, or all of nothing, is 100 %", arguments: [(5, 4), (0, 0)])
    func whole(count: Int, total: Int) {
        #expect(ProgressBar.text(count, of: total, in: .zero, isColoured: false).contains("] 100 %"))
    }

    @Test("Progress without a known total shows the rate")
    func rate() { #expect(ProgressBar.text(30_000, of: nil, in: .seconds(10), isColoured: true) == "30 kB, 3 kB/s") }
}
