import Glibc
import Synchronization
import Terminal

/// Turns the first signal into a cancelled task, and the second into the end of the program.
final class Interruption: Sendable {
    private let task: Task<Void, any Error>
    private let lastWords: LastWords
    private let signal = Mutex<CInt?>(nil)

    init(_ task: Task<Void, any Error>, _ lastWords: LastWords) {
        self.task = task
        self.lastWords = lastWords
    }

    /// The exit that the signal asks for, as shells count it; nil if none came.
    var status: Int32? { signal.withLock { $0 }.map { 128 + $0 } }

    /// Whether the program is to be stopped, and not ended.
    var isSuspension: Bool { signal.withLock { $0 == SIGTSTP } }

    func take(_ newSignal: CInt) {
        let isFirst = signal.withLock { signal in
            defer { signal = signal ?? newSignal }
            return signal == nil
        }
        if isFirst {
            task.cancel()
        } else {
            TerminalSettings.restore()
            lastWords.say()
            _exit(status ?? 128 + newSignal)
        }
    }
}
