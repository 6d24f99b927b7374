internal import LineProtocol

/// The first question to a board that may be starting, because the port was opened.
extension Bench {
    /// Longer than a board that was reset takes to hear: bootloader and `setup()`.
    private static let startTime = Duration.seconds(5)

    /// How long a first answer is waited for, with further questions.
    var startPatience: Duration {
        link.mayHaveReset ? max(Self.startTime, options.timeout) : options.timeout * 2
    }

    /// Asks until the device answers.
    ///
    /// - Parameter ask: Asks once more. It is given the number of questions without an answer: a board that has started may
    ///   answer them too.
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

    /// Takes the first line of this form, and passes over what a board prints while it starts.
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
