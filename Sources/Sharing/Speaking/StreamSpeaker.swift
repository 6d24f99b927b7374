internal import DeviceKit
internal import LineProtocol

/// Speaks with a device whose answers are no single lines: they are long, or missing, and mixed with unsolicited lines.
///
/// Each piece is handed over before the next is read. So an asker and everybody else see the device's lines in one order, a slow
/// asker holds the device back, and memory stays flat. Unsolicited lines wait behind a slow asker too, until it is hung up on.
actor StreamSpeaker<Rules: StreamRules>: Speaker {
    nonisolated var unownedExecutor: UnownedSerialExecutor { link.executor.asUnownedSerialExecutor() }

    /// How long a board is silent once it has started, where opening the link has reset it.
    private static var startHush: Duration { .seconds(1) }

    private nonisolated let link: any Link
    private let reader: LinkReader
    private let clock: SessionClock
    private var rules: Rules
    private let say: SpeechReceiver
    private let turns = TurnQueue()
    /// The answer that is expected, or under way.
    private var exchange: Exchange?
    /// The wait for what arrives next.
    private var waiting: Task<Result<[UInt8]?, LinkError>, Never>?
    /// When something of an answer came last, or the link was opened.
    private var lastAnswered: Duration
    private var hasSent = false
    /// Whether nothing is read any more.
    private var isOver = false

    /// Speaks over a link, which is the speaker's from now on.
    ///
    /// - Parameter say: Told what is for all.
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

    /// None: these devices report no state.
    func values() -> [String: StateValue] { [:] }

    func close() async {
        await link.close()
        end(LinkError(.closed, name: link.name, activity: "close"))
    }

    // MARK: Asking

    /// An answer that is expected, or under way.
    private final class Exchange {
        let command: String
        /// Nil once the asker has left: the rest of the answer is dropped.
        private(set) var asker: Asker?
        var hasBegun = false
        /// When silence ends the answer, by the clock; nil before the command is sent.
        var deadline: Duration?
        private var result: SessionError??
        private var waiter: UnsafeContinuation<SessionError?, Never>?

        init(_ command: String, _ asker: Asker) {
            self.command = command
            self.asker = asker
        }

        /// Lets the asker go. Only the first end counts.
        func finish(_ error: SessionError?) {
            asker = nil
            if result == nil { result = .some(error) }
            waiter?.resume(returning: error)
            waiter = nil
        }

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
        // endExchange() releases the turn, even if the asker leaves first: the next answer must not begin within this one.
        self.exchange = exchange
        do throws(SessionError) { try await send(request, command, outcome: .nothingChanged) } catch {
            endExchange(exchange, error)
            throw error
        }
        exchange.deadline = exchange.deadline ?? clock.elapsed() + Rules.timing.timeout
        // The read under way has no deadline: it is started again with this one.
        waiting?.cancel()
        let error = await withUnsafeContinuation { exchange.wait($0) }
        if let error { throw error }
    }

    /// Waits until the device may be asked.
    ///
    /// - Throws: Also where the line is no longer due.
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

    private func hand(_ bytes: [UInt8]) async {
        guard let exchange else { return }
        exchange.hasBegun = true
        if let asker = exchange.asker, !bytes.isEmpty {
            asker.tell(bytes, true)
            await asker.waitForRoom()
            if !asker.isThere() { exchange.finish(nil) }
        }
        // Counted from now, not from the arrival: the asker may have taken long.
        exchange.deadline = clock.elapsed() + Rules.timing.quiet
    }

    /// Nothing follows of the answer.
    private func endExchange() {
        guard let exchange else { return }
        let error = SessionError(
            .noAnswer, command: exchange.command, outcome: .nothingChanged, waited: Rules.timing.timeout)
        endExchange(exchange, exchange.hasBegun ? nil : error)
    }

    /// Ends an exchange, unless it is over, and hands on its turn.
    private func endExchange(_ exchange: Exchange, _ error: SessionError?) {
        guard self.exchange === exchange else { return }
        self.exchange = nil
        exchange.finish(error)
        turns.release()
    }

    /// Ends it, with whatever is asked.
    private func end(_ error: LinkError) {
        guard !isOver else { return }
        isOver = true
        turns.dismissAll()
        exchange.map { endExchange($0, SessionError(error, at: $0.command, outcome: .nothingChanged)) }
        if error.code != .closed { say(.lost(error)) }
    }

    /// Reads more pieces, or the end of an answer; none where a deadline was set meanwhile.
    private func read() async throws(LinkError) -> [StreamPiece] {
        if let bytes = try await receive() { return pieces(of: bytes) }
        guard let deadline = exchange?.deadline, clock.elapsed() >= deadline else { return [] }
        // A device out of reach is silent too. Once it confirms, all that it sent before has arrived.
        try await link.confirmConnection()
        if let last = try await reader.next(within: .zero) { return pieces(of: last) }
        return rules.finish() + [.answerEnds]
    }

    private func pieces(of bytes: [UInt8]) -> [StreamPiece] {
        let pieces = rules.take(bytes)
        if pieces.contains(where: \.isForAsker) { lastAnswered = clock.elapsed() }
        return pieces
    }

    /// The next bytes; nil once the deadline has passed, or a deadline was set meanwhile.
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
        // Bytes that came as the read was cancelled are its result, and not lost.
        let result = await waiting.value
        if case .failure(let error) = result, error.code == .cancelled { return nil }
        return try result.get()
    }
}
