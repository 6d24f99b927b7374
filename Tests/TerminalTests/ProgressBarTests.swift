import Testing

@testable import Terminal

@Suite("Progress bars")
struct ProgressBarTests {
    @Test("A bar says how much there is of what will come, and how long the rest takes")
    func bar() {
        #expect(
            ProgressBar.text(3000, of: 12_000, in: .seconds(2), isColoured: false)
                == "[######------------------] 25 %  3 of 12 kB  6 s left")
        #expect(
            ProgressBar.text(12_000, of: 12_000, in: .seconds(2), isColoured: true)
                == "[\u{1B}[32m########################\u{1B}[0m] 100 %  12 of 12 kB")
    }

    @Test("More than was announced is all of it, and so is all of nothing", arguments: [(5, 4), (0, 0)])
    func whole(count: Int, total: Int) {
        #expect(ProgressBar.text(count, of: total, in: .zero, isColoured: false).contains("] 100 %"))
    }

    @Test("Where nobody knows how much will come, how fast it comes is said")
    func rate() { #expect(ProgressBar.text(30_000, of: nil, in: .seconds(10), isColoured: true) == "30 kB, 3 kB/s") }
}
