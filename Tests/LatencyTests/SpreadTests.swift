import TestSupport
import Testing

@testable import Latency

@Suite("Query pauses and statistics")
struct SpreadTests {
    @Test("Pauses favour no phase of a loop", arguments: [60.0, 80, 97, 100, 109])
    func phases(loop: Double) {
        var random = SplitMix64(seed: 11)
        let pauses = QuestionPauses.make(count: 4000, interval: .milliseconds(150), using: &random)
        var counts = [Int](repeating: 0, count: 8)
        for pause in pauses {
            let phase = pause.milliseconds / loop
            counts[Int((phase - phase.rounded(.down)) * 8)] += 1
        }
        // Each of the 8 phases gets 500 pauses on average. 70 is more than three standard deviations.
        for count in counts { #expect((430...570).contains(count), "\(counts)") }
    }

    @Test("Pauses average the interval and differ from one another")
    func average() {
        var random = SplitMix64(seed: 5)
        let pauses = QuestionPauses.make(count: 40, interval: .milliseconds(150), using: &random)
        #expect(abs(pauses.map(\.milliseconds).mean - 150) < 5)
        #expect(Set(pauses).count == 40)
    }

    @Test("A histogram counts each time once, in a few equal ranges")
    func histogram() {
        var random = SplitMix64(seed: 9)
        for span in [0.0, 0.004, 0.7, 3, 15, 15.001, 150, 5000] {
            let times = [100, 100 + span] + (0..<50).map { _ in 100 + .random(in: 0...1, using: &random) * span }
            let histogram = TimeHistogram(times)
            #expect(histogram.counts.reduce(0, +) == 52)
            #expect(histogram.counts.count <= TimeHistogram.mostRanges, "\(span)")
            #expect(histogram.counts.first != 0 && histogram.counts.last != 0)
            for (index, count) in histogram.counts.enumerated() {
                let range = histogram.range(index)
                let inside = times.count { $0 >= range.from - 1e-9 && $0 < range.to - 1e-9 }
                #expect(abs(inside - count) <= 1)
            }
        }
    }

    @Test("A summary has the median, the mean and the extremes")
    func summary() throws {
        let summary = try #require(TimeSummary((1...100).map(Double.init).shuffled()))
        // The median of an even number of times is the longer of the two in the middle.
        #expect((summary.minimum, summary.median, summary.percentile99, summary.maximum) == (1, 51, 100, 100))
        #expect(summary.mean == 50.5 && summary.count == 100)
        #expect(TimeSummary([]) == nil)
    }
}
