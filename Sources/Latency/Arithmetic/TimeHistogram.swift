/// How many times fall in which range, in milliseconds.
public struct TimeHistogram: Sendable, Hashable {
    /// How wide each range is: 1, 2 or 5 times a power of ten.
    public let width: Double
    /// Where the first range begins: a multiple of ``width``.
    public let start: Double
    /// How many times fall in each range, the first and the last of them not 0.
    public let counts: [Int]

    /// The most ranges that there are.
    static let mostRanges = 16

    /// - Parameter times: In milliseconds; at least one.
    init(_ times: [Double]) {
        let (least, most) = (times.min() ?? 0, times.max() ?? 0)
        let width = Self.width(for: most - least)
        let start = (least / width).rounded(.down) * width
        var counts = [Int](repeating: 0, count: Int(((most - start) / width).rounded(.down)) + 1)
        for time in times { counts[min(counts.count - 1, max(0, Int((time - start) / width)))] += 1 }
        (self.width, self.start, self.counts) = (width, start, counts)
    }

    /// The range at an index: `from` is in it, `to` is not.
    public func range(_ index: Int) -> (from: Double, to: Double) {
        (start + Double(index) * width, start + Double(index + 1) * width)
    }

    /// The smallest width, down to 0.01 ms, with which a span takes few enough ranges.
    private static func width(for span: Double) -> Double {
        var power = 0.01
        while true {
            for factor in [1.0, 2, 5] where span / (power * factor) < Double(mostRanges - 1) { return power * factor }
            power *= 10
        }
    }
}
