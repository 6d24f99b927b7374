internal import DeviceKit
internal import LineProtocol

/// Speaks with a device whose answers are lines: a session, whose commands are the lines of clients.
final class LineSpeaker<Base: RelayedFamily & FollowedFamily>: Speaker {
    /// How long a device is given that does not answer such a line.
    private static var silence: Duration { .milliseconds(300) }

    let speech: AsyncStream<Speech>
    private let session: Session<Relayed<Base>>

    /// Speaks by a session that has begun.
    init(_ session: Session<Relayed<Base>>) async {
        self.session = session
        let (speech, source) = AsyncStream.makeStream(of: Speech.self)
        self.speech = speech
        let events = await session.events()
        let listening = Task(executorPreference: session.link.executor) {
            for await event in events {
                switch event {
                case .heard(let message):
                    // A late answer would be taken by whoever asks the same for his own.
                    if !Base.isAnswer(message.meaning) { source.yield(.said(message.bytes + Self.lineEnd)) }
                case .heardBefore: break  // it tells nothing of the present
                case .lost(let error): source.yield(.lost(error))
                }
            }
            source.finish()
        }
        source.onTermination = { _ in listening.cancel() }
    }

    private static var lineEnd: [UInt8] { [0x0D, 0x0A] }

    func values() async -> [String: StateValue] { await Base.values(of: session.state.base) }

    func perform(_ line: [UInt8], answer: @escaping Answer) async throws(SessionError) {
        guard let command = RelayedLine<Base>(line) else { return }
        do throws(SessionError) {
            let time = command.request.isAnswered ? Session<Relayed<Base>>.defaultTimeout : Self.silence
            await answer(try await session.perform(command, timeout: time).bytes)
        } catch {
            if error.code == .refused, let text = error.deviceCode { await answer(Array(text.utf8)) }
            if command.request.isAnswered || error.code != .noAnswer { throw error }
        }
    }

    func close() async { await session.close() }
}
