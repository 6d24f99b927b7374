import Glibc
import Synchronization

/// Turns the first signal into a cancelled task, and the second into the end of the program.
final class Interruption: Sendable {
    private let task: Task<Void, any Error>
    private let signal = Mutex<CInt?>(nil)

    init(_ task: Task<Void, any Error>) { self.task = task }

    /// The exit that the signal asks for; nil if none came.
    var status: ExitStatus? {
        signal.withLock { $0 }.map { $0 == SIGINT ? .interrupted : .terminated }
    }

    func take(_ newSignal: CInt) {
        let isFirst = signal.withLock { signal in
            defer { signal = signal ?? newSignal }
            return signal == nil
        }
        if isFirst {
            task.cancel()
        } else {
            TerminalSettings.restoreSaved()
            _exit((status ?? .interrupted).rawValue)
        }
    }
}
