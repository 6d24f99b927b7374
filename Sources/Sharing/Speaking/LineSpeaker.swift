internal import DeviceKit
internal import LineProtocol
internal import Synchronization

/// A speaker for devices that reply in lines: a session whose commands are the clients' lines.
final class LineSpeaker<Base: RelayedFamily & FollowedFamily>: Speaker {
    /// Starts the session of a speaker.
    typealias Begin =
        @Sendable (_ observer: @escaping @Sendable (SessionEvent<RelayedMessage<Base>>) -> Void)
        async throws(SessionError) -> Session<Relayed<Base>>

    /// Sends a line in its turn, as ``LineProtocol/Session/perform(_:timeout:)`` does. The speaker takes this function
    /// as a parameter, so that a family can pass code that is specialized for the family.
    typealias Perform =
        @Sendable (_ session: Session<Relayed<Base>>, _ line: RelayedLine<Base>, _ timeout: Duration)
        async throws(SessionError) -> RelayedAnswer<Base>

    /// The time to wait for an error after a line to which the device has no reply; chosen, not measured.
    private static var silence: Duration { .milliseconds(300) }
    /// The time limit of a stop, which is sent again until the device's status confirms it. A board that was reset may
    /// need most of this time to start.
    private static var stopTime: Duration { Session<Relayed<Base>>.startTime + .seconds(2) }
    private static var lineEnd: [UInt8] { [0x0D, 0x0A] }

    private let session: Session<Relayed<Base>>
    private let perform: Perform
    private let times: ReportTimes<Base>

    /// Starts a speaker.
    ///
    /// - Parameters:
    ///   - clock: The clock for the ages of values.
    ///   - say: Receives unsolicited output of the device.
    init(
        clock: any Clock<Duration>, say: @escaping SpeechReceiver,
        perform: @escaping Perform = { session, line, timeout throws(SessionError) in
            try await session.perform(line, timeout: timeout)
        },
        begin: Begin
    ) async throws(SessionError) {
        self.perform = perform
        let times = ReportTimes<Base>(by: clock)
        self.times = times
        let question = StateQuestion<Base>(times, say)
        session = try await begin { event in
            switch event {
            case .heard(let message):
                times.note(message.meaning, isReply: false)
                // A late reply must not go to the clients: a client that sends the same command would take it for its
                // own reply.
                if !Base.isAnswer(message.meaning) {
                    say(.said(message.bytes + Self.lineEnd, tellsState: Self.tellsState(message)))
                }
                if case .event = Base.meaning(of: message.meaning) { question.askIfStateIsOpen() }
            case .heardBefore: break  // old output says nothing of the present
            case .lost(let error): say(.lost(error))
            }
        }
        question.session.withLock { [session] in $0.session = session }
        guard session.link.mayHaveReset else { return }
        // Query the board, which may still be starting: the first commands wait for its reply. OFF does not wait.
        Task(executorPreference: session.link.executor) { [session] in try? await session.waitUntilReady() }
    }

    func values() async -> [String: StateValue] { await Base.values(of: session.state.base) }

    func ages() -> [String: Duration] { times.ages }

    private static func tellsState(_ message: RelayedMessage<Base>) -> Bool {
        switch Base.meaning(of: message.meaning) {
        case .state, .event, .error: true
        case .text, .nothing: false
        }
    }

    func perform(_ line: ClientLine, for asker: Asker) async throws(SessionError) {
        // The device ignores a line that is no request.
        guard var command = line.request as? RelayedLine<Base> else { return }
        if command.request.effect == .stop { return try await stop(command, for: asker) }
        command.hear = { [times] message in
            times.note(message.meaning, isReply: true)
            asker.tell(message.bytes + Self.lineEnd, Self.tellsState(message))
        }
        command.isWanted = asker.isDue
        command.isEarly = asker.goesFirst
        do throws(SessionError) {
            let time = command.request.isAnswered ? Session<Relayed<Base>>.defaultTimeout : Self.silence
            _ = try await perform(session, command, time)
        } catch {
            if error.code == .refused, let text = error.deviceCode {
                times.note(Base.message(line: Array(text.utf8).span, ending: .lineFeed), isReply: true)
                asker.tell(Array(text.utf8) + Self.lineEnd, true)
            }
            if command.request.isAnswered || error.code != .noAnswer { throw error }
        }
    }

    /// Sends a stop line repeatedly until the device's status confirms it, and only then answers the asker.
    private func stop(_ command: RelayedLine<Base>, for asker: Asker) async throws(SessionError) {
        // The status that confirmed the stop, or showed that the device goes on, reported the first field, the most
        // important one.
        let main = Base.row.state.prefix(1).map(\.key)
        do throws(SessionError) {
            let answer = try await session.perform(command, timeout: Self.stopTime)
            times.note(main)
            asker.tell(answer.bytes, true)
        } catch {
            if error.code == .notInEffect { times.note(main) }
            throw error
        }
    }

    func close() async { await session.close() }
}

/// Asks a device for its state after an event that leaves the state unknown, such as a press of the pump's button,
/// because perhaps no client asks.
private final class StateQuestion<Base: RelayedFamily & FollowedFamily>: Sendable {
    struct Weak {
        weak var session: Session<Relayed<Base>>?
    }

    let session = Mutex(Weak())
    private let times: ReportTimes<Base>
    private let say: SpeechReceiver

    init(_ times: ReportTimes<Base>, _ say: @escaping SpeechReceiver) {
        self.times = times
        self.say = say
    }

    func askIfStateIsOpen() {
        guard let session = session.withLock({ $0.session }), var query = Relayed<Base>.statusQuery,
            let main = Base.row.state.first?.key
        else { return }
        query.hear = { [times] in times.note($0.meaning, isReply: true) }
        Task(executorPreference: session.link.executor) { [say, query] in
            guard Base.values(of: await session.state.base)[main] == nil else { return }
            // All clients get the answer, as if it were unsolicited.
            if let answer = try? await session.perform(query) { say(.said(answer.bytes)) }
        }
    }
}
