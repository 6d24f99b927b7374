internal import DeviceKit
internal import LineProtocol

/// A speaker for devices without single-line replies: an answer may be long or missing, and is mixed with unsolicited
/// lines.
///
/// Each piece is delivered before the next is read. Thus all clients see the output in the same order, and memory
/// use is bounded. A slow asker slows the device down; on a serial port without flow control, bytes are lost instead.
/// Unsolicited lines also wait for a slow asker.
actor StreamSpeaker<Rules: StreamRules>: Speaker {
    nonisolated var unownedExecutor: UnownedSerialExecutor { link.executor.asUnownedSerialExecutor() }

    /// The time without any part of an answer after which a board that was reset by opening its link counts as started;
    /// chosen, not measured.
    private static var startHush: Duration { .seconds(1) }

    private nonisolated let link: any Link
    private let reader: LinkReader
    private let clock: SessionClock
    private var rules: Rules
    private let say: SpeechReceiver
    /// Lets requests with an answer be sent one at a time.
    private let turns = TurnQueue()
    /// The exchange whose answer is expected or in progress.
    private var exchange: Exchange?
    /// The read in progress.
    private var waiting: Task<Result<[UInt8]?, LinkError>, Never>?
    /// The clock time at which the last piece of an answer arrived; before the first piece, the time at which the
    /// speaker started.
    private var lastAnswered: Duration
    /// Whether anything was sent over the link.
    private var hasSent = false
    /// Whether the link has ended, or ``close()`` was called.
    private var isOver = false

    /// Starts a speaker, which owns the link from now on.
    ///
    /// - Parameter say: Receives output for all clients.
    static func begin(
        over link: any Link, clock: any Clock<Duration>, _ rules: Rules, say: @escaping SpeechReceiver
    ) -> StreamSpeaker {
        let speaker = StreamSpeaker(link, clock, rules, say)
        Task(executorPreference: link.executor) { await speaker.run() }
        return speaker
    }

    private init(
        _ link: any Link, _ clock: any Clock<Duration>, _ rules: Rules, _ say: @escaping SpeechReceiver
    ) {
        self.say = say
        self.link = link
        self.rules = rules
        self.clock = SessionClock(clock)
        reader = LinkReader(link, clock: self.clock)
        lastAnswered = self.clock.elapsed()
    }

    /// Always empty: these devices report no state.
    func values() -> [String: StateValue] { [:] }

    /// Always empty, as ``values()``.
    nonisolated func ages() -> [String: Duration] { [:] }

    func close() async {
        await link.close()
        end(LinkError(.closed, name: link.name, activity: "close"))
    }

    // MARK: Requests

    /// A request whose answer is expected or in progress.
    private final class Exchange {
        let command: String
        /// The asker; nil after ``finish(_:)``. The rest of the answer is then dropped.
        private(set) var asker: Asker?
        var hasBegun = false
        /// The clock time at which the wait for more of the answer ends; nil before the command is sent.
        var deadline: Duration?
        /// The end of the exchange, with its error if there is one; nil before the end.
        private var result: SessionError??
        private var waiter: UnsafeContinuation<SessionError?, Never>?

        init(_ command: String, _ asker: Asker) {
            self.command = command
            self.asker = asker
        }

        /// Finishes the exchange for the asker. Only the first call counts.
        func finish(_ error: SessionError?) {
            asker = nil
            if result == nil { result = .some(error) }
            waiter?.resume(returning: error)
            waiter = nil
        }

        /// Resumes `waiter` with the error, or nil, when the exchange is finished.
        func wait(_ waiter: UnsafeContinuation<SessionError?, Never>) {
            if let result { waiter.resume(returning: result) } else { self.waiter = waiter }
        }
    }

    func perform(_ line: ClientLine, for asker: Asker) async throws(SessionError) {
        let (request, command) = (rules.request(line.bytes), line.text)
        guard request.isAnswered else { return try await send(request, command, outcome: .unknown) }
        guard await turns.take() else {
            throw SessionError(isOver ? .closed : .cancelled, command: command, outcome: .notSent)
        }
        let exchange: Exchange
        do throws(SessionError) { exchange = try await prepare(command, asker) } catch {
            turns.release()
            throw error
        }
        // From here on, only endExchange() releases the turn, even if the asker leaves earlier: the next answer must
        // not begin within this one.
        self.exchange = exchange
        do throws(SessionError) { try await send(request, command, outcome: .nothingChanged) } catch {
            endExchange(exchange, error)
            throw error
        }
        // A deadline is set already if the answer began while the request was being sent.
        exchange.deadline = exchange.deadline ?? clock.elapsed() + Rules.timing.timeout
        // The current read has no deadline. Cancelling it makes the loop read again with the deadline of the exchange.
        waiting?.cancel()
        let error = await withUnsafeContinuation { exchange.wait($0) }
        if let error { throw error }
    }

    /// Waits until an earlier answer has ended, and creates an exchange.
    ///
    /// - Throws: `cancelled` if the asker no longer wants the line or the task was cancelled, `closed` if the link has
    ///   ended, `notUnderstood` if the earlier answer goes on for too long.
    private func prepare(_ command: String, _ asker: Asker) async throws(SessionError) -> Exchange {
        try await waitForSilence(command)
        let capacity = await link.packetCapacity()
        guard asker.isDue() else {
            throw SessionError(.cancelled, command: command, outcome: .notSent)
        }
        guard !isOver else { throw SessionError(.closed, command: command, outcome: .notSent) }
        rules.begin(packetCapacity: capacity)
        return Exchange(command, asker)
    }

    /// Waits until no part of an answer has arrived for ``StreamTiming/hush``, or longer if the board may be starting.
    private func waitForSilence(_ command: String) async throws(SessionError) {
        let hush = link.mayHaveReset && !hasSent ? max(Rules.timing.hush, Self.startHush) : Rules.timing.hush
        let patience = clock.elapsed() + hush + Rules.timing.timeout
        while !isOver, clock.elapsed() < lastAnswered + hush {
            guard clock.elapsed() < patience else {
                throw SessionError(.notUnderstood, command: command, outcome: .notSent)
            }
            do { try await clock.sleep(lastAnswered + hush) } catch {
                throw SessionError(.cancelled, command: command, outcome: .notSent)
            }
        }
    }

    /// Sends a request.
    ///
    /// - Parameter outcome: The outcome in the error if the link fails after a part may have been sent.
    private func send(
        _ request: StreamRequest, _ command: String, outcome: SessionError.Outcome
    ) async throws(SessionError) {
        let isFirst = !hasSent
        hasSent = true
        do throws(LinkError) {
            try await link.send((isFirst && link.mayBeMidLine && Rules.endsHalfLines ? [0x0A] : []) + request.bytes)
        } catch {
            let isSent = error.code != .closed && error.code != .unsupported
            throw SessionError(error, at: command, outcome: isSent ? outcome : .notSent)
        }
    }

    // MARK: Reading

    /// Reads until the link ends.
    private func run() async {
        while !isOver {
            do throws(LinkError) {
                for piece in try await read() { await take(piece) }
            } catch {
                for piece in rules.finish() { await take(piece) }
                end(error)
            }
        }
    }

    private func take(_ piece: StreamPiece) async {
        guard !isOver else { return }
        switch piece {
        case .forAll(let bytes): say(.said(bytes))
        case .forAsker(let bytes): await hand(bytes)
        case .broken:
            exchange.map { $0.finish(SessionError(.notUnderstood, command: $0.command, outcome: .nothingChanged)) }
        case .answerEnds: endExchange()
        }
    }

    /// Passes a part of the answer to the asker, and waits until the asker can take more.
    private func hand(_ bytes: [UInt8]) async {
        guard let exchange else { return }
        exchange.hasBegun = true
        if let asker = exchange.asker, !bytes.isEmpty {
            asker.tell(bytes, true)
            await asker.waitForRoom()
            if !asker.isThere() { exchange.finish(nil) }
        }
        // The silence counts from the delivery, as the asker may have been slow to take the bytes.
        exchange.deadline = clock.elapsed() + Rules.timing.quiet
    }

    /// Ends the exchange when the answer is complete: with `noAnswer` if nothing of the answer arrived.
    private func endExchange() {
        guard let exchange else { return }
        let error = SessionError(
            .noAnswer, command: exchange.command, outcome: .nothingChanged, waited: Rules.timing.timeout)
        endExchange(exchange, exchange.hasBegun ? nil : error)
    }

    /// Ends an exchange, unless it has ended, and releases its turn.
    private func endExchange(_ exchange: Exchange, _ error: SessionError?) {
        guard self.exchange === exchange else { return }
        self.exchange = nil
        exchange.finish(error)
        turns.release()
    }

    /// Ends the speaker, and the exchange in progress.
    private func end(_ error: LinkError) {
        guard !isOver else { return }
        isOver = true
        turns.dismissAll()
        exchange.map { endExchange($0, SessionError(error, at: $0.command, outcome: .nothingChanged)) }
        if error.code != .closed { say(.lost(error)) }
    }

    /// Reads more pieces, or the end of an answer. Returns none if the received bytes complete no piece, or if the next
    /// read must have another deadline.
    private func read() async throws(LinkError) -> [StreamPiece] {
        if let bytes = try await receive() { return pieces(of: bytes) }
        guard let deadline = exchange?.deadline, clock.elapsed() >= deadline else { return [] }
        // A device that is out of reach is also silent. When the device confirms the connection, everything that it
        // sent before has arrived.
        try await link.confirmConnection()
        if let last = try await reader.next(within: .zero) { return pieces(of: last) }
        return rules.finish() + [.answerEnds]
    }

    private func pieces(of bytes: [UInt8]) -> [StreamPiece] {
        let pieces = rules.take(bytes)
        if pieces.contains(where: \.isForAsker) { lastAnswered = clock.elapsed() }
        return pieces
    }

    /// Reads the next bytes; returns nil at the deadline, or if a deadline was set during the read.
    private func receive() async throws(LinkError) -> [UInt8]? {
        let deadline = exchange?.deadline
        let waiting = Task(executorPreference: link.executor) { [reader] () -> Result<[UInt8]?, LinkError> in
            do throws(LinkError) {
                if let deadline { return .success(try await reader.next(by: deadline)) }
                if let bytes = try await reader.link.receive() { return .success(bytes) }
                throw LinkError(.closed, name: reader.link.name, activity: "receive")
            } catch {
                return .failure(error)
            }
        }
        self.waiting = waiting
        defer { self.waiting = nil }
        // Bytes that arrive while the read is cancelled are in its result, and not lost.
        let result = await waiting.value
        if case .failure(let error) = result, error.code == .cancelled { return nil }
        return try result.get()
    }
}
