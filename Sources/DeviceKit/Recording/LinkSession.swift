public import DescriptorIO
internal import LineProtocol
internal import RecordFormat
internal import Synchronization

/// The recorded session of one link: the time from the link's opening to its end.
///
/// The recording of the session begins with the first traffic on the link, or at ``begin()``, and not at the opening:
/// the first bytes may be OFF, which must not wait for the start of `pumpctl-record`.
public final class LinkSession: Sendable {
    /// Begins a session. Returns the recording that contains the session and the number of the session in it; nil if
    /// the session can't begin.
    public typealias Beginning = @Sendable () async -> (recording: Recording, session: UInt64)?

    private enum State {
        /// The session has not started. The entries so far are kept, with their times.
        case waiting([(RecordTime, RecordingLink.Entry)])
        case recording(Recording, UInt64)
        /// The session could not start, so nothing is recorded.
        case failed
    }

    private let loop: EventLoop
    private let start: Beginning
    private let state = Mutex(State.waiting([]))
    private let task = Mutex<Task<Void, Never>?>(nil)

    /// Creates a session that starts with the first traffic on the link.
    public init(on loop: EventLoop, start: @escaping Beginning) {
        self.loop = loop
        self.start = start
    }

    /// Whether the start of the session is over, with or without success.
    public var hasBegun: Bool { state.withLock { if case .waiting = $0 { false } else { true } } }

    /// Records an entry, and starts the session if needed.
    public func take(_ entry: RecordingLink.Entry) {
        let isWaiting = state.withLock { state in
            switch state {
            case .waiting(let entries): state = .waiting(entries + [(.now, entry)])
            case .recording(let recording, let session): recording.take(entry, at: .now, in: session)
            case .failed: break
            }
            if case .waiting = state { return true }
            return false
        }
        if isWaiting { _ = beginning() }
    }

    /// Starts the session if needed. Returns once the start is over: the recording then has all earlier entries, unless
    /// the session could not begin.
    public func begin() async { await beginning().value }

    /// Returns the task that starts the session, which is created at the first call.
    private func beginning() -> Task<Void, Never> {
        task.withLock { task in
            let running = task ?? Task(executorPreference: loop) { await self.run() }
            task = running
            return running
        }
    }

    private func run() async {
        let begun = await start()
        state.withLock { state in
            guard case .waiting(let entries) = state else { return }
            guard let (recording, session) = begun else {
                state = .failed
                return
            }
            for (time, entry) in entries { recording.take(entry, at: time, in: session) }
            state = .recording(recording, session)
        }
    }
}

extension Recording {
    fileprivate func take(_ entry: RecordingLink.Entry, at time: RecordTime, in session: UInt64) {
        switch entry {
        case .event(let kind, let text): record(.event(kind: kind, text: text), at: time, in: session)
        case .reading(let reading): record(.reading(kind: "status", reading), at: time, in: session)
        case .lost(let error):
            record(.error(code: error.code.rawValue, text: "\(error)"), at: time, in: session)
            endSession("lost", in: session)
        }
    }
}
