/// The distribution of times over ranges of equal width, in milliseconds.
public struct TimeHistogram: Sendable, Hashable {
    /// The width of each range: 1, 2, or 5 times a power of ten.
    public let width: Double
    /// The start of the first range: a multiple of ``width``.
    public let start: Double
    /// The number of times in each range. The first and the last are not 0.
    public let counts: [Int]

    /// The largest number of ranges.
    static let mostRanges = 16

    /// - Parameter times: Times in milliseconds; at least one.
    init(_ times: [Double]) {
        let (least, most) = (times.min() ?? 0, times.max() ?? 0)
        let width = Self.width(for: most - least)
        let start = (least / width).rounded(.down) * width
        var counts = [Int](repeating: 0, count: Int(((most - start) / width).rounded(.down)) + 1)
        for time in times { counts[min(counts.count - 1, max(0, Int((time - start) / width)))] += 1 }
        (self.width, self.start, self.counts) = (width, start, counts)
    }

    /// Returns the range at an index. `from` belongs to the range, `to` does not.
    public func range(_ index: Int) -> (from: Double, to: Double) {
        (start + Double(index) * width, start + Double(index + 1) * width)
    }

    /// Returns the smallest width, at least 0.01 ms, with which `span` takes at most ``mostRanges`` ranges.
    private static func width(for span: Double) -> Double {
        var power = 0.01
        while true {
            for factor in [1.0, 2, 5] where span / (power * factor) < Double(mostRanges - 1) { return power * factor }
            power *= 10
        }
    }
}
