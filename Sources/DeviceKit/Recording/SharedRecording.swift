public import DescriptorIO
public import LineProtocol
public import RecordFormat
internal import Synchronization

/// The recording of all that a program does with a device, over all of its links: begun by whoever has something to record
/// first, and ended once.
public final class SharedRecording: Sendable {
    /// What is wrong with the record.
    public enum Report: Sendable {
        /// The record could not be begun. Told once.
        case notBegun(Trouble)
        /// Something is wrong with the record that was begun.
        case begun(Recording.Report)
    }

    private struct State {
        var recording: Recording?
        /// The record could not be begun, which was told.
        var hasFailed = false
        var sessions: [LinkSession] = []
    }

    private let family: String
    private let program: CompanionProgram?
    private let loop: EventLoop
    private let state = Mutex(State())

    /// A recording that has not begun.
    ///
    /// - Parameters:
    ///   - family: What kind of device it is of, as in `pump`.
    ///   - program: The program that writes; nil for the one that is installed.
    ///   - loop: What it runs on.
    public init(of family: String, by program: CompanionProgram? = nil, on loop: EventLoop = .shared) {
        self.family = family
        self.program = program
        self.loop = loop
    }

    /// The recording, begun if it is not; nil where it can't be.
    ///
    /// - Parameter tell: Told what is wrong; must not block. Only the first caller's is used.
    public func begun(tell: @escaping @Sendable (Report) -> Void) async -> Recording? {
        let (recording, isNew) = state.withLock { state -> (Recording?, Bool) in
            if state.recording != nil || state.hasFailed { return (state.recording, false) }
            do throws(Trouble) {
                state.recording = try Recording(of: family, by: program, on: loop) { tell(.begun($0)) }
            } catch {
                tell(.notBegun(error))
                state.hasFailed = true
            }
            return (state.recording, true)
        }
        if isNew { await recording?.listen() }
        return recording
    }

    /// The link, with a record of what goes over it, which begins with the first of that.
    ///
    /// - Parameters:
    ///   - name: The device, as people name it.
    ///   - device: What tells it from others; nil where nothing does.
    ///   - tell: As for ``begun(tell:)``.
    public func recorded(
        _ link: any Link, as name: String, device: @escaping @Sendable () -> String? = { nil },
        tell: @escaping @Sendable (Report) -> Void
    ) -> any Link {
        let opened = RecordTime.now
        let session = LinkSession(on: loop) { [self] in
            guard let recording = await begun(tell: tell) else { return nil }
            return (recording, recording.beginSession(named: name, device: device(), at: opened))
        }
        state.withLock { state in
            state.sessions.removeAll(where: \.hasBegun)
            state.sessions.append(session)
        }
        return RecordingLink(link) { session.take($0) }
    }

    /// Ends what was begun, and waits until it is on the disk; see ``Recording/end(_:_:)``.
    public func end(_ reason: String, _ error: String? = nil) async {
        for session in state.withLock({ $0.sessions }) { await session.begin() }
        await state.withLock { $0.recording }?.end(reason, error)
    }
}
