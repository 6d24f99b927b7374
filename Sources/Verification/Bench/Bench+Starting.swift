internal import LineProtocol

/// The first query to a board that may be starting because opening the port reset it.
extension Bench {
    /// Longer than the time for which a board reads nothing after a reset, in its bootloader and in `setup()`.
    private static let startTime = Duration.seconds(5)

    /// The time limit for the first answer. The query is repeated until then. If opening can't have reset the board,
    /// this is the time limit of two queries.
    var startPatience: Duration {
        link.mayHaveReset ? max(Self.startTime, options.timeout) : options.timeout * 2
    }

    /// Repeats a query until the device answers, or ``startPatience`` is over; then throws the last failure.
    ///
    /// - Parameter ask: Sends the query once, and throws `CheckFailure` if no answer comes. Its argument is the number
    ///   of earlier queries without an answer: a board that has finished starting may answer the earlier queries as
    ///   well.
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

    /// Returns the next line that matches, and skips the lines that a board prints while starting. Throws
    /// `CheckFailure` if no line matches within the timeout.
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
