public import LineProtocol

/// Sends a query to a device again and again, and notes the times of sending and of arrival.
///
/// ```swift
/// var random = SystemRandomNumberGenerator()
/// let pauses = QuestionPauses.make(count: 36, interval: .milliseconds(150), using: &random)
/// let measurement = LatencyMeasurement(.pump, over: link, clock: ContinuousClock(), pauses: pauses)
/// let record = try await measurement.run()
/// if let report = LatencyReport(record, .pump, over: LatencyCarrier(.network)) { print(report.roundTrip) }
/// ```
public struct LatencyMeasurement: Sendable {
    /// The number of unanswered queries in a row that ends the measurement.
    static let mostUnanswered = 5
    /// The time limit for the first answer of a board that may have been reset: longer than its bootloader and
    /// `setup()` take.
    static let startTime = Duration.seconds(5)
    /// The silence that must precede the next query if an answer to an earlier one may still come.
    static let lateTime = Duration.milliseconds(500)

    private let question: LatencyQuestion
    private let link: any Link
    private let clock: SessionClock
    private let pauses: [Duration]
    private let timeout: Duration

    /// Creates a measurement, which ``run(_:)`` starts.
    ///
    /// - Parameters:
    ///   - question: The query to send.
    ///   - link: The link to the device. The caller keeps it, but nobody else may use it from now on.
    ///   - clock: The clock for deadlines and measured times.
    ///   - pauses: The pause before each query: see ``QuestionPauses``.
    ///   - timeout: The time limit for each answer.
    public init(
        _ question: LatencyQuestion, over link: any Link, clock: any Clock<Duration>, pauses: [Duration],
        timeout: Duration = .seconds(1)
    ) {
        (self.question, self.link, self.clock) = (question, link, SessionClock(clock))
        (self.pauses, self.timeout) = (pauses, timeout)
    }

    /// Sends all queries, each after the previous one was answered or given up.
    ///
    /// - Parameter tell: Called after each query with the number of queries so far.
    /// - Returns: The measured times.
    /// - Throws: ``LatencyError`` if no answer could be measured, or if several queries in a row got none. `LinkError`
    ///   if the link fails. `CancellationError`, or `LinkError` with `cancelled`, if the task is cancelled.
    public func run(_ tell: (_ count: Int) -> Void = { _ in }) async throws -> LatencyRecord {
        let watch = ReplyWatch(question, keepsPacketBounds: link.keepsPacketBounds, now: clock.elapsed)
        await link.forward(to: watch.take)
        var events = watch.events.makeAsyncIterator()
        try await waitUntilAnswered(watch, &events)
        let start = clock.elapsed()
        var (record, silences): (LatencyRecord, Int) = (LatencyRecord(), 0)
        for (index, pause) in pauses.enumerated() {
            try await settle(watch, for: silences > 0 ? Self.lateTime : question.settlingTime, isLate: silences > 0)
            let wakeTime = clock.elapsed() + pause
            try await clock.sleep(wakeTime)
            record.wakeDelays.append(clock.elapsed() - wakeTime)
            let hadAnswer = try await ask(watch, &events, number: index, into: &record)
            silences = hadAnswer ? 0 : silences + 1
            if silences == Self.mostUnanswered { throw LatencyError.noAnswer(timeout) }
            tell(index + 1)
        }
        record.time = clock.elapsed() - start
        if record.samples.isEmpty { throw failure(watch) }
        return record
    }

    // MARK: Queries

    private var bytes: [UInt8] { Array((question.text + (link.keepsPacketBounds ? "" : "\n")).utf8) }

    /// Sends one query; returns false if no answer came in time.
    private func ask(
        _ watch: ReplyWatch, _ events: inout AsyncStream<ReplyWatch.Event>.Iterator, number: Int,
        into record: inout LatencyRecord
    ) async throws -> Bool {
        let bytes = bytes
        watch.begin()
        let sent = clock.elapsed()
        try await link.send(bytes)
        let taken = clock.elapsed()
        switch try await outcome(watch, &events, by: sent + timeout, number: number) {
        case .answered(let arrivals)?:
            record.samples.append(
                LatencySample(
                    number: number, sent: sent, taken: taken, questionLength: bytes.count, arrivals: arrivals))
        case .disturbed?: record.disturbedCount += 1
        case .refused?: record.refusedCount += 1
        case nil:
            record.unansweredCount += 1
            return false
        }
        return true
    }

    /// Waits for the outcome of the query; nil if there is none by `deadline`.
    ///
    /// - Parameter number: The number of the query. The timers of earlier queries, with other numbers, are ignored.
    private func outcome(
        _ watch: ReplyWatch, _ events: inout AsyncStream<ReplyWatch.Event>.Iterator, by deadline: Duration, number: Int
    ) async throws -> ReplyWatch.Outcome? {
        let timer = Task(executorPreference: link.executor) { [clock] in
            if (try? await clock.sleep(deadline)) != nil { watch.noteTimeUp(number) }
        }
        defer { timer.cancel() }
        while true {
            if let outcome = try watch.outcome() { return outcome }
            switch await events.next(isolation: #isolation) {
            case .changed?: continue
            case .timeIsUp(number)?:
                let last = try watch.outcome()
                watch.giveUp()
                return last
            case .timeIsUp?: continue
            case nil: throw CancellationError()
            }
        }
    }

    // MARK: Before the queries

    /// Repeats the query until the device answers: after a reset, a board is deaf for some seconds. These queries are
    /// not measured, and have negative numbers.
    private func waitUntilAnswered(
        _ watch: ReplyWatch, _ events: inout AsyncStream<ReplyWatch.Event>.Iterator
    ) async throws {
        // A device that was not reset gets the time for two attempts.
        let patience = link.mayHaveReset ? max(Self.startTime, timeout) : timeout * 2
        let deadline = clock.elapsed() + patience
        if link.mayBeMidLine, !question.spoiler.isEmpty { try await link.send(question.spoiler) }
        var attempt = -1
        while clock.elapsed() < deadline {
            watch.begin()
            try await link.send(bytes)
            let limit = min(clock.elapsed() + timeout, deadline)
            switch try await outcome(watch, &events, by: limit, number: attempt) {
            case .answered?, .disturbed?:
                // After its start, a board also answers the queries that it received before.
                if attempt < -1 || link.mayHaveReset { try await settle(watch, for: Self.lateTime, isLate: true) }
                return
            case .refused?: try await settle(watch, for: Self.lateTime)
            case nil: break
            }
            attempt -= 1
        }
        throw failure(watch, waited: patience)
    }

    /// Returns the error of a measurement without an answer: with the last line, if the device has sent any.
    private func failure(_ watch: ReplyWatch, waited: Duration? = nil) -> LatencyError {
        watch.lastLine.map { .notUnderstood($0) } ?? .noAnswer(waited ?? timeout)
    }

    /// The longest wait for silence. The answers of a device that is never silent count as disturbed afterwards.
    private static let longestSettling = Duration.seconds(5)

    /// Waits until nothing has arrived for `time`, at most for ``longestSettling``.
    ///
    /// - Parameter isLate: Whether an answer may still be on its way. The time then counts from now at the earliest, not
    ///   from an arrival before.
    private func settle(_ watch: ReplyWatch, for time: Duration, isLate: Bool = false) async throws {
        let begin = clock.elapsed()
        while true {
            let last = watch.lastArrival ?? .zero
            let end = min((isLate ? max(last, begin) : last) + time, begin + Self.longestSettling)
            guard clock.elapsed() < end else { return }
            try await clock.sleep(end)
        }
    }
}
