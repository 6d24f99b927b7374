public import DescriptorIO
public import LineProtocol
public import RecordFormat
internal import Synchronization

/// The recording that all of a program's links to a device share; each link has a session of its own in it. The
/// recording begins when the first link or other caller has something to record, and ends once.
public final class SharedRecording: Sendable {
    /// A problem with the record.
    public enum Report: Sendable {
        /// The recording could not begin. Reported once.
        case notBegun(Trouble)
        /// A report of the running recording.
        case begun(Recording.Report)
    }

    private struct State {
        var recording: Recording?
        /// Whether beginning has failed, which was reported.
        var hasFailed = false
        var sessions: [LinkSession] = []
    }

    private let family: String
    private let program: CompanionProgram?
    private let loop: EventLoop
    private let state = Mutex(State())

    /// Creates a recording that has not begun.
    ///
    /// - Parameters:
    ///   - family: The name of the device's family, such as `pump`.
    ///   - program: The writing program; nil for the installed one.
    ///   - loop: The event loop of the recording.
    public init(of family: String, by program: CompanionProgram? = nil, on loop: EventLoop = .shared) {
        self.family = family
        self.program = program
        self.loop = loop
    }

    /// Returns the recording, and begins it if needed. Returns nil if it can't begin.
    ///
    /// - Parameter tell: Receives each report; must not block, and must not call this recording. Only the first
    ///   caller's closure is used.
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

    /// Wraps a link so that its traffic is recorded. The recording begins with the first traffic, or at ``end(_:_:)``.
    ///
    /// - Parameters:
    ///   - link: An open link.
    ///   - name: The device's endpoint for people.
    ///   - device: Returns the endpoint that identifies the device, such as `usb:0403:6001/A50285BI`; nil if there is
    ///     none.
    ///   - tell: See ``begun(tell:)``.
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

    /// Records values that the device has reported over the link that was opened last, or an event on that link. Does
    /// nothing before the first link.
    public func record(_ entry: RecordingLink.Entry) { state.withLock { $0.sessions.last }?.take(entry) }

    /// Records the sessions of links that had no traffic yet, ends the recording, and waits until the records are on
    /// the disk; see ``Recording/end(_:_:)``. Does nothing if there was no link and the recording has not begun.
    public func end(_ reason: String, _ error: String? = nil) async {
        for session in state.withLock({ $0.sessions }) { await session.begin() }
        await state.withLock { $0.recording }?.end(reason, error)
    }
}
