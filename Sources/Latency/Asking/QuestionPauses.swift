/// Makes the pauses before queries, spread so that no phase of the device's main loop is favoured.
///
/// A loop that polls its line answers at one phase of its turn. A host that queries a fixed time after each answer
/// meets the same phase each time, and measures one wait over and over. Each pause is therefore the sum of two random
/// numbers from `0..<interval`. To spread them evenly, the interval is divided into `count` equal parts: the first
/// numbers of all pauses are one from each part, in random order, and so are the second numbers. The density of the sum
/// has no step, so each phase of a loop has an equal share to within 10 %, for any loop shorter than two thirds of the
/// interval.
public enum QuestionPauses {
    /// Returns pauses of `interval` on average, each shorter than two intervals.
    ///
    /// - Parameters:
    ///   - count: The number of pauses.
    ///   - interval: The average pause.
    ///   - random: The source of randomness.
    public static func make(
        count: Int, interval: Duration, using random: inout some RandomNumberGenerator
    ) -> [Duration] {
        let (first, second) = (strata(count, &random), strata(count, &random))
        return zip(first, second).map { interval * ($0 + $1) }
    }

    /// Returns numbers from `0..<1`, one from each of `count` equal strata, in random order.
    private static func strata(_ count: Int, _ random: inout some RandomNumberGenerator) -> [Double] {
        (0..<count).map { (Double($0) + Double.random(in: 0..<1, using: &random)) / Double(count) }
            .shuffled(using: &random)
    }
}
