/// The rate of a serial line, estimated from the arrival times of chunks. The thresholds are chosen, as in
/// ``ConnectionInterval``.
struct LineRate {
    /// The time for one byte in milliseconds, with start and stop bits; nil if the chunks do not show it.
    let byteTime: Double?
    /// The median time between two chunks of an answer in milliseconds, if it is at least 1 ms and the time of three
    /// bytes, and 70 % of the times differ from it by at most 15 %; nil otherwise. It shows an adapter that delivers
    /// bytes when its timer fires.
    let step: Double?

    /// The fewest bytes from which a rate is derived, in all answers together, without the first and the last chunk of
    /// each.
    private static let fewestBytes = 30
    /// The largest difference of two times for one byte that count as equal, as a share of one of them.
    private static let tolerance = 0.25

    /// Estimates the rate. The last chunk of each answer is ignored: the adapter's timer delays it, not the line.
    init(_ samples: [LatencySample]) {
        // The times between two chunks, with the number of bytes in the later chunk.
        var gaps: [(time: Double, bytes: Int)] = []
        // The time for one byte in each answer of enough bytes. 60 % of them must agree, or there is no line rate.
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

    /// Whether the estimate is near `time`, in milliseconds per byte; nil if there is no estimate.
    func agrees(with time: Double) -> Bool? { byteTime.map { abs($0 - time) <= Self.tolerance * time } }
}
