/// How fast bytes come over a line, as far as the times of chunks tell.
struct LineRate {
    /// The time of a byte in milliseconds, start and stop bits included; nil where the chunks do not tell.
    let byteTime: Double?
    /// The time between two chunks of one answer in milliseconds, where it is always the same and not that of a few bytes: an
    /// adapter hands on what it has at the steps of its timer.
    let step: Double?

    private static let fewestBytes = 30
    private static let tolerance = 0.25

    /// The last chunk of an answer is left out: it waits for the adapter's timer, and not for bytes.
    init(_ samples: [LatencySample]) {
        var gaps: [(time: Double, bytes: Int)] = []
        var slopes: [Double] = []
        for arrivals in samples.map(\.arrivals) where arrivals.count >= 3 {
            let inner = arrivals.dropLast()
            let own = zip(inner, inner.dropFirst()).map { (($1.time - $0.time).milliseconds, $1.byteCount) }
            gaps += own
            let count = own.map(\.1).reduce(0, +)
            if count >= 6 { slopes.append(own.map(\.0).reduce(0, +) / Double(count)) }
        }
        let count = gaps.map(\.bytes).reduce(0, +)
        guard count >= Self.fewestBytes else {
            (byteTime, step) = (nil, nil)
            return
        }
        let rate = gaps.map(\.time).reduce(0, +) / Double(count)
        let fitting = slopes.count { abs($0 - rate) <= Self.tolerance * rate }
        let isSteady = slopes.isEmpty || Double(fitting) >= 0.6 * Double(slopes.count)
        byteTime = isSteady && rate > 0 ? rate : nil
        let middle = gaps.map(\.time).median
        let even = gaps.count { abs($0.time - middle) <= 0.15 * middle }
        step = middle >= max(1, 3 * rate) && Double(even) >= 0.7 * Double(gaps.count) ? middle : nil
    }

    /// Whether bytes were seen to come as fast as that, in milliseconds; nil where that was not seen.
    func agrees(with time: Double) -> Bool? { byteTime.map { abs($0 - time) <= Self.tolerance * time } }
}
