internal import LineProtocol

/// The first query to a board that may be starting because opening the port reset it.
extension Bench {
    /// Longer than the time for which a board is deaf after a reset: bootloader and `setup()`.
    private static let startTime = Duration.seconds(5)

    /// The time limit for a first answer, over which the query is repeated.
    var startPatience: Duration {
        link.mayHaveReset ? max(Self.startTime, options.timeout) : options.timeout * 2
    }

    /// Repeats a query until the device answers.
    ///
    /// - Parameter ask: Sends the query once. Its argument is the number of unanswered queries before: a board that has
    ///   finished starting may answer those too.
    func untilAnswered<Answer>(_ ask: (_ unanswered: Int) async throws -> Answer) async throws -> Answer {
        let deadline = elapsed + startPatience
        var count = 0
        while true {
            do { return try await ask(count) } catch let failure as CheckFailure {
                guard elapsed < deadline else { throw failure }
                count += 1
            }
        }
    }

    /// Reads until a line matches, and skips the lines that a board prints while starting.
    func hearPastStart(_ expected: LineExpectation) async throws -> HeardLine {
        let deadline = elapsed + options.timeout
        var other: HeardLine?
        while let line = try await line(by: deadline) {
            if expected.fits(line.text) { return line }
            other = other ?? line
        }
        let silence = "no answer in \(options.timeout.inSeconds) s"
        throw CheckFailure(expected: expected.name, got: other?.bytes.shown ?? silence)
    }
}
