/// What a row of times comes to, in milliseconds.
public struct TimeSummary: Sendable, Hashable {
    /// How many there are; at least one.
    public let count: Int
    public let minimum: Double
    public let median: Double
    /// The time that 99 % of all do not exceed.
    public let percentile99: Double
    public let maximum: Double
    public let mean: Double

    /// - Parameter times: In milliseconds.
    /// - Returns: nil where there are none.
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
    /// The middle one, of two the later; of at least one.
    var median: Double { sorted()[count / 2] }
}

extension Duration {
    /// In milliseconds.
    var milliseconds: Double {
        Double(components.seconds) * 1000 + Double(components.attoseconds) / 1_000_000_000_000_000
    }
}
