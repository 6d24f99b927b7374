/// The pauses before the questions, spread so that no phase of the device's main loop is favoured.
///
/// A loop that polls its line answers at one phase of its turn. A host that asks a fixed time after each answer meets the same
/// phase each time, and measures one wait over and over. Each pause is therefore the sum of two numbers that are spread over
/// `0..<interval`, by strata in random order: the density of the sum has no step, so that its share of a loop's phases is even
/// to some 5 % for any loop that is shorter than two thirds of the interval.
public enum QuestionPauses {
    /// Pauses of `interval` on average, and of less than two intervals.
    public static func make(
        count: Int, interval: Duration, using random: inout some RandomNumberGenerator
    ) -> [Duration] {
        let (first, second) = (strata(count, &random), strata(count, &random))
        return zip(first, second).map { interval * ($0 + $1) }
    }

    /// Numbers of `0..<1`, one in each of `count` equal strata, in random order.
    private static func strata(_ count: Int, _ random: inout some RandomNumberGenerator) -> [Double] {
        (0..<count).map { (Double($0) + Double.random(in: 0..<1, using: &random)) / Double(count) }
            .shuffled(using: &random)
    }
}
