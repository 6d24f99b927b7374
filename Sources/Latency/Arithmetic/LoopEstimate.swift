internal import Glibc

/// The main loop of a firmware that polls its line once a turn, estimated from the time to each answer.
public struct LoopEstimate: Sendable, Hashable {
    /// The evidence for the period.
    public enum Basis: String, Sendable, Hashable {
        /// The answers begin at one phase of the turn.
        case phase
        /// The waits are spread evenly between zero and one turn.
        case spread
    }

    /// The result of a search for a loop.
    public enum Finding: Sendable, Hashable {
        /// A loop was found.
        case loop(LoopEstimate)
        /// No loop shows: the waits differ only by the given number of milliseconds.
        case none(Double)
        /// The waits differ, but not as those for a loop do.
        case irregular
        /// There are too few answers for a result.
        case tooFew
    }

    /// The start of an answer, in milliseconds, or its end if the start is unknown; and the number of its query.
    struct Answer {
        var number: Int
        var time: Double
    }

    /// The duration of a turn without a query, in milliseconds.
    public let period: Double
    /// The evidence for the period.
    public let basis: Basis
    /// The largest expected error of the period, in milliseconds: a little more than the errors seen with known
    /// periods.
    public let tolerance: Double

    /// The fewest waits from which a loop is derived.
    public static let fewestSamples = 12
    /// Waits whose range is smaller than this, in milliseconds, count as equal.
    static let leastRange = 3.0
    /// The least agreement of the answers' phases, as a share of the agreement that the times of a loop have if they
    /// are as blurred as the measured ones: see ``agreement(period:blur:)``. One in ten thousand sets of a dozen random
    /// phases reaches this share.
    static let leastAgreement = 0.85
    /// The largest distance, in queries, at which answers are compared. A greater distance gives a finer period.
    static let mostNeighbours = 4

    /// Searches for a loop.
    ///
    /// After an answer, a loop begins its next turn after a constant time. So the times between answers differ by whole
    /// turns, whenever the queries came. The same holds for every second answer, and so on. If this does not show, the
    /// waits must at least be spread evenly, as the waits of queries at random phases are.
    ///
    /// - Parameters:
    ///   - waits: The times from the end of a query to the start of its answer, in milliseconds. A constant part in all
    ///     of them does no harm.
    ///   - answers: The start of each answer, or the end of each if the starts are unknown; in order, one for each
    ///     wait.
    ///   - blur: The precision of these times, in milliseconds: each may be late by up to twice this.
    ///   - noise: The delay that the host may add to some times, in milliseconds. Waits that differ by little more show
    ///     nothing.
    static func find(waits: [Double], answers: [Answer], blur: Double, noise: Double = 0) -> Finding {
        guard waits.count >= fewestSamples else { return .tooFew }
        let sorted = waits.sorted()
        let range = sorted[sorted.count - 1] - sorted[0]
        // Ignore one extreme at each end for every 40 waits: a host that stalls makes a few waits long. Fewer than 40
        // waits all count.
        let (low, high) = (sorted[sorted.count / 40], sorted[sorted.count - 1 - sorted.count / 40])
        guard high - low >= max(leastRange, 4 * blur, 1.25 * noise) else { return .none(high - low) }
        let count = Double(waits.count)
        // If n waits are spread evenly over a turn, their range is (n - 1) / (n + 1) of the turn on average.
        let spread = range * (count + 1) / (count - 1)
        let gaps = (1...mostNeighbours).map { distance in
            zip(answers, answers.dropFirst(distance)).filter { $1.number - $0.number == distance }
                .map { $1.time - $0.time }
        }.filter { $0.count >= fewestSamples / 2 }
        // The range of the waits is shorter than a turn, by much if there are few waits; or a little longer if the
        // times are blurred.
        let best = Rhythm.bestPeriod(of: gaps, in: (high - low) * 0.9...(range * 1.6))
        if best.agreement >= leastAgreement * agreement(period: best.period, blur: blur) {
            return .loop(LoopEstimate(period: best.period, basis: .phase, tolerance: 0.5 + blur * 1.25))
        }
        guard isEven(sorted) else { return .irregular }
        return .loop(LoopEstimate(period: spread, basis: .spread, tolerance: 2 * blur + spread * 5 / count))
    }

    /// The agreement of differences between times that are late by random amounts, evenly spread from 0 to twice the
    /// blur.
    private static func agreement(period: Double, blur: Double) -> Double {
        let angle = 2 * blur / period * .pi
        let single = angle > 0 ? sin(angle) / angle : 1
        return single * single
    }

    /// Whether sorted numbers may be spread evenly between the first and the last, by the Kolmogorov-Smirnov test at a
    /// level of about 10 %.
    private static func isEven(_ sorted: [Double]) -> Bool {
        let (first, last) = (sorted[0], sorted[sorted.count - 1])
        let count = Double(sorted.count)
        let distances = sorted.enumerated().map { index, value in
            let share = (value - first) / (last - first)
            return max(abs(share - Double(index) / count), abs(share - Double(index + 1) / count))
        }
        return (distances.max() ?? 1) * count.squareRoot() < 1.22
    }
}
