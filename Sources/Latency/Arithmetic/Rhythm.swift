internal import Glibc

/// Finds the period of an event from times that have one phase in common: they differ by whole periods.
enum Rhythm {
    /// The agreement of times in their phase, from 0 to 1: the length of the mean of their directions on a circle with
    /// that period.
    static func agreement(of times: [Double], period: Double) -> Double {
        let angles = times.map { $0 / period * 2 * .pi }
        let (x, y) = (angles.map { cos($0) }.reduce(0, +), angles.map { sin($0) }.reduce(0, +))
        return (x * x + y * y).squareRoot() / Double(times.count)
    }

    /// The fit of times to multiples of the period, from -1 to 1.
    static func multiplicity(of times: [Double], period: Double) -> Double {
        times.map { cos($0 / period * 2 * .pi) }.reduce(0, +) / Double(times.count)
    }

    /// Returns the period in a range, or at most 1/400 of the range beyond its ends, with the best agreement, on
    /// average over several groups of times, and that agreement. Each group may have a phase of its own.
    static func bestPeriod(
        of groups: [[Double]], in range: ClosedRange<Double>
    ) -> (period: Double, agreement: Double) {
        func best(_ periods: StrideThrough<Double>) -> (period: Double, agreement: Double) {
            periods.map { period in
                let agreements = groups.map { agreement(of: $0, period: period) }
                return (period, agreements.reduce(0, +) / Double(max(1, groups.count)))
            }.max { $0.1 < $1.1 } ?? (range.lowerBound, 0)
        }
        // ``LoopEstimate`` searches from 0.9 to 1.6 times its first estimate of the period, so a coarse step is about
        // 0.2 % of the period. Even for times over 200 periods, the agreement half a step beside the true period is
        // above 0.8 of the best, so the coarse search finds it. The fine steps then give the period to about 0.01 %.
        let step = (range.upperBound - range.lowerBound) / 400
        let coarse = best(stride(from: range.lowerBound, through: range.upperBound, by: step)).period
        return best(stride(from: coarse - step, through: coarse + step, by: step / 20))
    }
}
