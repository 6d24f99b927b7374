internal import Glibc

/// The main loop of a firmware that looks at its line once a turn, as far as the waits of questions tell.
public struct LoopEstimate: Sendable, Hashable {
    /// What the period was found by.
    public enum Basis: String, Sendable, Hashable {
        /// Answers begin at one phase of the turn.
        case phase
        /// The waits are spread evenly from nothing to a turn.
        case spread
    }

    /// What can be said of a loop.
    public enum Finding: Sendable, Hashable {
        case loop(LoopEstimate)
        /// The waits differ by less than this, in milliseconds: no turn of a loop is waited for.
        case none(Double)
        /// The waits differ, and not as those for a loop do.
        case irregular
        /// There are too few answers to tell.
        case tooFew
    }

    /// When an answer began, in milliseconds, and to which question.
    struct Answer {
        var number: Int
        var time: Double
    }

    /// One turn that handles no question, in milliseconds.
    public let period: Double
    public let basis: Basis
    /// How far the period may be off, in milliseconds: rather more than what is seen of periods that are known.
    public let tolerance: Double

    /// The fewest waits that tell of a loop.
    public static let fewestSamples = 12
    /// Waits that differ by less than this, in milliseconds, are as good as equal.
    static let leastRange = 3.0
    /// How well the phases of answers must agree, of those that would agree wholly if they were known exactly. Of a dozen at
    /// random, this is reached by one in ten thousand.
    static let leastAgreement = 0.85
    /// Answers that are so many questions apart are compared: the farther, the finer.
    static let mostNeighbours = 4

    /// Looks for a loop.
    ///
    /// Behind an answer, a loop begins its next turn after a time that is always the same. So the times between answers differ
    /// by whole turns, whenever the questions came: those between neighbours, between every second, and so on. Where that does
    /// not show, the waits must at least be spread as those of questions at random phases are: evenly.
    ///
    /// - Parameters:
    ///   - waits: From the question's end to the answer's beginning, in milliseconds; what is always the same may be in it.
    ///   - answers: When the answers began, in order; one for each wait.
    ///   - blur: How exactly these times are known: they may be late by up to twice this, in milliseconds.
    ///   - noise: By how much the host may be late for some, in milliseconds: waits that differ by little more tell nothing.
    static func find(waits: [Double], answers: [Answer], blur: Double, noise: Double = 0) -> Finding {
        guard waits.count >= fewestSamples else { return .tooFew }
        let sorted = waits.sorted()
        let range = sorted[sorted.count - 1] - sorted[0]
        // A host that stalled makes a few waits long.
        let (low, high) = (sorted[sorted.count / 40], sorted[sorted.count - 1 - sorted.count / 40])
        guard high - low >= max(leastRange, 4 * blur, 1.25 * noise) else { return .none(high - low) }
        let count = Double(waits.count)
        let spread = range * (count + 1) / (count - 1)
        let gaps = (1...mostNeighbours).map { distance in
            zip(answers, answers.dropFirst(distance)).filter { $1.number - $0.number == distance }
                .map { $1.time - $0.time }
        }.filter { $0.count >= fewestSamples / 2 }
        let best = Rhythm.bestPeriod(of: gaps, in: (high - low) * 0.9...(range * 1.6))
        if best.agreement >= leastAgreement * agreement(period: best.period, blur: blur) {
            return .loop(LoopEstimate(period: best.period, basis: .phase, tolerance: 0.5 + blur * 1.25))
        }
        guard isEven(sorted) else { return .irregular }
        return .loop(LoopEstimate(period: spread, basis: .spread, tolerance: 2 * blur + spread * 5 / count))
    }

    /// How well the differences of times agree that are late by an even share of twice the blur.
    private static func agreement(period: Double, blur: Double) -> Double {
        let angle = 2 * blur / period * .pi
        let single = angle > 0 ? sin(angle) / angle : 1
        return single * single
    }

    /// Whether numbers, which are sorted, may well be spread evenly between the first and the last (Kolmogorov and Smirnov, at
    /// a level of some 10 %).
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
