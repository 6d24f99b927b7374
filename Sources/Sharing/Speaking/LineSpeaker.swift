internal import DeviceKit
internal import LineProtocol
internal import Synchronization

/// Speaks with a device whose answers are lines: a session, whose commands are the lines of clients.
final class LineSpeaker<Base: RelayedFamily & FollowedFamily>: Speaker {
    /// Begins the session that a speaker needs.
    typealias Begin =
        @Sendable (_ observer: @escaping @Sendable (SessionEvent<RelayedMessage<Base>>) -> Void)
        async throws(SessionError) -> Session<Relayed<Base>>

    /// Sends a line in its turn: ``LineProtocol/Session/perform(_:timeout:)``, which a family may have code for that is
    /// specialized for it.
    typealias Perform =
        @Sendable (_ session: Session<Relayed<Base>>, _ line: RelayedLine<Base>, _ timeout: Duration)
        async throws(SessionError) -> RelayedAnswer<Base>

    /// How long a device is given that does not answer such a line.
    private static var silence: Duration { .milliseconds(300) }
    /// How long a device is sent what makes it safe until it has acknowledged that; a board that was reset needs most of it to
    /// start.
    private static var stopTime: Duration { Session<Relayed<Base>>.startTime + .seconds(2) }
    private static var lineEnd: [UInt8] { [0x0D, 0x0A] }

    private let session: Session<Relayed<Base>>
    private let perform: Perform
    private let stops = Stops()

    /// What somebody was told who makes the device safe just now.
    private final class Stop: Sendable {
        private let told = Mutex<(lines: Set<[UInt8]>, wasTold: Bool)>(([], false))

        var wasTold: Bool { told.withLock { $0.wasTold } }

        /// Whether a line was not told since the device was made safe, or somebody has undone that.
        func isNews(_ line: [UInt8]) -> Bool {
            told.withLock { told in
                told.wasTold = true
                return told.lines.insert(line).inserted
            }
        }

        func wasUndone() { told.withLock { $0.lines = [] } }
    }

    /// Those that go on.
    private final class Stops: Sendable {
        private let all = Mutex<[Stop]>([])

        func add(_ stop: Stop) { all.withLock { $0.append(stop) } }

        func remove(_ stop: Stop) { all.withLock { $0.removeAll { $0 === stop } } }

        func undo() { all.withLock { for stop in $0 { stop.wasUndone() } } }
    }

    /// Begins to speak.
    ///
    /// - Parameter say: Told what the device says unasked.
    init(
        say: @escaping SpeechReceiver,
        perform: @escaping Perform = { session, line, timeout throws(SessionError) in
            try await session.perform(line, timeout: timeout)
        },
        begin: Begin
    ) async throws(SessionError) {
        self.perform = perform
        session = try await begin { [stops] event in
            switch event {
            case .heard(let message):
                if Base.stop?.isUndone(message.meaning) == true { stops.undo() }
                // A late answer would be taken by whoever asks the same for his own.
                if !Base.isAnswer(message.meaning) { say(.said(message.bytes + Self.lineEnd)) }
            case .heardBefore: break  // it tells nothing of the present
            case .lost(let error): say(.lost(error))
            }
        }
        guard session.link.mayHaveReset else { return }
        // The first commands wait behind its question, and OFF does not.
        Task(executorPreference: session.link.executor) { [session] in try? await session.waitUntilReady() }
    }

    func values() async -> [String: StateValue] { await Base.values(of: session.state.base) }

    func tellsState(_ line: [UInt8]) -> Bool {
        switch Base.meaning(of: Base.message(line: line.span, ending: .lineFeed)) {
        case .state, .event, .error: true
        case .text, .nothing: false
        }
    }

    func perform(_ line: [UInt8], for asker: Asker) async throws(SessionError) {
        guard var command = RelayedLine<Base>(line) else { return }
        if command.request.effect == .stop { return try await stop(command, for: asker) }
        command.hear = { asker.tell($0 + Self.lineEnd) }
        command.isWanted = asker.isDue
        command.isEarly = asker.goesFirst
        do throws(SessionError) {
            let time = command.request.isAnswered ? Session<Relayed<Base>>.defaultTimeout : Self.silence
            _ = try await perform(session, command, time)
        } catch {
            if error.code == .refused, let text = error.deviceCode { asker.tell(Array(text.utf8) + Self.lineEnd) }
            if command.request.isAnswered || error.code != .noAnswer { throw error }
        }
    }

    /// Makes the device safe. Where it is told so more than once, the asker is told it once, and again only where somebody has
    /// undone it in between.
    private func stop(_ command: RelayedLine<Base>, for asker: Asker) async throws(SessionError) {
        let stop = Stop()
        stops.add(stop)
        defer { stops.remove(stop) }
        var command = command
        command.hear = { if stop.isNews($0) { asker.tell($0 + Self.lineEnd) } }
        let answer = try await session.perform(command, timeout: Self.stopTime)
        // Its status has said so, or the acknowledgement came between two of its sendings.
        if !stop.wasTold { asker.tell(answer.bytes) }
    }

    func close() async { await session.close() }
}
