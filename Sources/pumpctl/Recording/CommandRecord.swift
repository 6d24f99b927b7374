import DeviceKit
import LineProtocol
import RecordFormat
import Synchronization

/// What a command records, over all of its links. It is begun by whoever records first, and ended by whoever runs the
/// command, with how that went.
final class CommandRecord: Sendable {
    private struct State {
        var recording: Recording?
        /// The record could not be begun, which was told.
        var hasFailed = false
        var sessions: [LinkSession] = []
    }

    private let state = Mutex(State())

    /// The recording of this command, begun if it is not; nil where it can't be.
    ///
    /// - Parameter note: Where to tell what is wrong.
    func recording(_ context: CommandContext, _ note: @escaping @Sendable (String) -> Void) async -> Recording? {
        let (recording, isNew) = state.withLock { state -> (Recording?, Bool) in
            if state.recording != nil || state.hasFailed { return (state.recording, false) }
            do throws(Trouble) {
                state.recording = try Recording(of: context.family.name, on: context.loop) { note($0.text) }
            } catch {
                note("pumpctl: nothing is recorded: \(error.text)\n  hint: \(error.hint)")
                state.hasFailed = true
            }
            return (state.recording, true)
        }
        if isNew { await recording?.listen() }
        return recording
    }

    /// What goes over a link is recorded too.
    func add(_ session: LinkSession) {
        state.withLock { state in
            state.sessions.removeAll(where: \.hasBegun)
            state.sessions.append(session)
        }
    }

    /// Ends what was begun, and waits until it is on the disk.
    ///
    /// - Parameters:
    ///   - result: How the command went.
    ///   - isInterrupted: Whether a signal ended it.
    func end(_ result: Result<Void, any Error>, isInterrupted: Bool) async {
        for session in state.withLock({ $0.sessions }) { await session.begin() }
        let recording = state.withLock { $0.recording }
        if isInterrupted, case .failure = result { return await recording?.end("interrupted") ?? () }
        guard case .failure(let error) = result, !(error is CancellationError) else {
            return await recording?.end(result.reason) ?? ()
        }
        await recording?.end(result.reason, "\(error)")
    }
}

extension Result where Failure == any Error {
    /// Why a session has ended, as it is recorded.
    fileprivate var reason: String {
        switch self {
        case .success: "closed"
        case .failure(let error as SessionError): error.code.rawValue
        case .failure(let error as LinkError): error.code.rawValue
        case .failure(let failure as pumpctl.Failure): failure.code
        case .failure(let error as FileError): pumpctl.Failure(error).code
        case .failure(let trouble as Trouble): trouble.code
        case .failure(is CancellationError): "interrupted"
        case .failure: "failed"
        }
    }
}
