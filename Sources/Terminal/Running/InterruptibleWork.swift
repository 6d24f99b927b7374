public import DescriptorIO
internal import Glibc
internal import Synchronization

/// The work of a program that signals end in order: the first that would end the program cancels the work, so that it can close
/// what it has open; a second one ends the program at once.
///
/// ```swift
/// let status = EventLoop.run { loop in
///     let work = InterruptibleWork()
///     await work.run(on: loop) { try await follow(device) } conclude: { result in print(result) }
///     return work.exitStatus ?? 0
/// }
/// ```
public final class InterruptibleWork: Sendable {
    private struct State {
        var cancel: (@Sendable () -> Void)?
        var isCancelled = false
        var signal: CInt?
        var lastWords: String?
    }

    private let endsBeforeSuspension: Bool
    private let state = Mutex(State())

    /// Work that has not begun.
    ///
    /// - Parameter endsBeforeSuspension: Whether Ctrl-Z ends it too: the program stops once the work is concluded.
    public init(endsBeforeSuspension: Bool = false) { self.endsBeforeSuspension = endsBeforeSuspension }

    /// The exit that the first signal asks for, as shells count it: 128 and its number; nil if none came.
    public var exitStatus: Int32? { state.withLock { $0.signal }.map { 128 + $0 } }

    /// Whether Ctrl-Z has ended the work.
    public var wasSuspended: Bool { state.withLock { $0.signal } == SIGTSTP }

    /// Sets what is said on standard error where a second signal ends the program before its work is done; nil for nothing.
    public func setLastWords(_ text: String?) { state.withLock { $0.lastWords = text } }

    /// Cancels the work; what has not begun is cancelled when it begins.
    public func cancel() {
        let cancel = state.withLock { state in
            state.isCancelled = true
            return state.cancel
        }
        cancel?()
    }

    /// Runs the work to its end, and puts the terminal's settings back. To be called once.
    ///
    /// - Parameters:
    ///   - loop: What it runs on.
    ///   - conclude: Called with how the work went; a second signal ends the program until it returns.
    /// - Returns: What `conclude` returns; where Ctrl-Z has ended the work, once the program goes on.
    public func run<Success: Sendable, Value>(
        on loop: EventLoop, _ body: @escaping @Sendable () async throws -> Success,
        conclude: (Result<Success, any Error>) async -> Value
    ) async -> Value {
        // A job in the background goes on where it writes to the terminal or asks for its settings.
        if endsBeforeSuspension { for stop in [SIGTTIN, SIGTTOU] { signal(stop, SIG_IGN) } }
        let task = Task(executorPreference: loop) { try await body() }
        let isCancelled = state.withLock { state in
            state.cancel = { task.cancel() }
            return state.isCancelled
        }
        if isCancelled { task.cancel() }
        let ending = SignalSource.endingSignals + (endsBeforeSuspension ? [SIGTSTP] : [])
        let signals = try? SignalSource.open(ending) { self.take($0, on: loop) }
        let value = await conclude(task.result)
        TerminalSettings.restore()
        if wasSuspended { kill(getpid(), SIGSTOP) }
        signals?.close(isEnding: true)
        return value
    }

    /// Attends to a signal, on any thread. The loop may be held up, as by a file that blocks: only the first signal needs it.
    package func take(_ signal: CInt, on loop: EventLoop) {
        let isFirst = state.withLock { state in
            defer { state.signal = state.signal ?? signal }
            return state.signal == nil
        }
        if isFirst { return loop.execute { self.cancel() } }
        Self.endWithinSeconds()
        TerminalSettings.restore()
        if let lastWords = state.withLock({ $0.lastWords }) { StreamWriter.error.write(lastWords + "\n") }
        _exit(exitStatus ?? 128 + signal)
    }

    /// Has the process ended by SIGALRM unless it ends before: neither a terminal nor a disk that hangs may keep it.
    private static func endWithinSeconds() {
        Glibc.signal(SIGALRM, SIG_DFL)
        var alarm = sigset_t()
        sigemptyset(&alarm)
        sigaddset(&alarm, SIGALRM)
        pthread_sigmask(SIG_UNBLOCK, &alarm, nil)
        Glibc.alarm(2)
    }
}
