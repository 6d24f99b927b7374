import Glibc
import Synchronization

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
            TerminalSettings.restoreSaved()
            lastWords.say()
            _exit(status ?? 128 + newSignal)
        }
    }
}

/// What is said on standard error where a second signal ends the program before its work is done.
final class LastWords: Sendable {
    private let text = Mutex<String?>(nil)

    func set(_ text: String?) { self.text.withLock { $0 = text } }

    func say() {
        guard var text = text.withLock({ $0 }) else { return }
        text += "\n"
        text.withUTF8 { _ = write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}
