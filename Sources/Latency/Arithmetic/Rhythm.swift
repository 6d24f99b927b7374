internal import Glibc

/// Finds the period of something by the phases at which it shows.
enum Rhythm {
    /// How well times agree in their phase, from 0 to 1: the length of their mean direction on a circle of that period.
    static func agreement(of times: [Double], period: Double) -> Double {
        let angles = times.map { $0 / period * 2 * .pi }
        let (x, y) = (angles.map { cos($0) }.reduce(0, +), angles.map { sin($0) }.reduce(0, +))
        return (x * x + y * y).squareRoot() / Double(times.count)
    }

    /// How well times are multiples of the period, from -1 to 1.
    static func multiplicity(of times: [Double], period: Double) -> Double {
        times.map { cos($0 / period * 2 * .pi) }.reduce(0, +) / Double(times.count)
    }

    /// The period in a range at which the times of each of several groups agree best, and how well on average.
    static func bestPeriod(
        of groups: [[Double]], in range: ClosedRange<Double>
    ) -> (period: Double, agreement: Double) {
        func best(_ periods: StrideThrough<Double>) -> (period: Double, agreement: Double) {
            periods.map { period in
                let agreements = groups.map { agreement(of: $0, period: period) }
                return (period, agreements.reduce(0, +) / Double(max(1, groups.count)))
            }.max { $0.1 < $1.1 } ?? (range.lowerBound, 0)
        }
        let step = (range.upperBound - range.lowerBound) / 400
        let coarse = best(stride(from: range.lowerBound, through: range.upperBound, by: step)).period
        return best(stride(from: coarse - step, through: coarse + step, by: step / 20))
    }
}
