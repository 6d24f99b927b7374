/// Statistics of a set of times, in milliseconds.
public struct TimeSummary: Sendable, Hashable {
    /// The number of times; at least 1.
    public let count: Int
    /// The shortest time.
    public let minimum: Double
    /// The median; of two middle times, the larger.
    public let median: Double
    /// The time that 99 % of all times do not exceed; the longest time if there are at most 100.
    public let percentile99: Double
    /// The longest time.
    public let maximum: Double
    /// The arithmetic mean.
    public let mean: Double

    /// Returns nil if there are no times.
    ///
    /// - Parameter times: Times in milliseconds.
    init?(_ times: [Double]) {
        let sorted = times.sorted()
        guard let first = sorted.first, let last = sorted.last else { return nil }
        (count, minimum, maximum) = (sorted.count, first, last)
        median = sorted[sorted.count / 2]
        percentile99 = sorted[min(sorted.count - 1, sorted.count * 99 / 100)]
        mean = times.reduce(0, +) / Double(times.count)
    }
}

extension [Double] {
    /// The middle element in order of size; of two, the larger. The array must not be empty.
    var median: Double { sorted()[count / 2] }
}

extension Duration {
    /// The duration in milliseconds.
    var milliseconds: Double {
        Double(components.seconds) * 1000 + Double(components.attoseconds) / 1_000_000_000_000_000
    }
}
