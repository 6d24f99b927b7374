public import DescriptorIO
internal import Glibc
internal import Synchronization

/// The work of a program, and its end by signals. The first ending signal, such as SIGINT or SIGTERM, cancels the work,
/// so that the work can close its resources; a second one ends the program at once. Signals within ``echoTime`` after the
/// first one count as the same request.
///
/// ```swift
/// let status = EventLoop.run { loop in
///     let work = InterruptibleWork()
///     await work.run(on: loop) { try await follow(device) } conclude: { result in print(result) }
///     work.endProcess()
///     return work.exitStatus ?? 0
/// }
/// ```
public final class InterruptibleWork: Sendable {
    private struct State {
        /// Cancels the work; nil if the work has not begun.
        var cancel: (@Sendable () -> Void)?
        var isCancelled = false
        /// The first signal.
        var signal: CInt?
        /// The time at which the first signal was handled.
        var signalTime: ContinuousClock.Instant?
        var lastWords: String?
    }

    /// The time after the first signal in which further ones are ignored. timeout(1) sends its signal to the program and
    /// then to its process group, so the program gets two, and a terminal that closes may send SIGHUP twice. Nobody must
    /// find the pump running because of that.
    package static let echoTime = Duration.seconds(1)

    private let endsBeforeSuspension: Bool
    private let state = Mutex(State())

    /// Creates work that has not begun.
    ///
    /// - Parameter endsBeforeSuspension: Whether Ctrl-Z ends the work, like an ending signal. If so, the program stops
    ///   once the work is concluded.
    public init(endsBeforeSuspension: Bool = false) { self.endsBeforeSuspension = endsBeforeSuspension }

    /// The exit status that corresponds to the first signal, by the shell's convention: 128 plus the signal's number;
    /// nil without a signal.
    public var exitStatus: Int32? { state.withLock { $0.signal }.map { 128 + $0 } }

    /// Ends the process by the signal that ended the work, without the handlers of atexit(3): output must have been
    /// written before. A shell reports ``exitStatus`` for that. A script that Ctrl-C has reached then ends as well; bash
    /// would go on after a program that exits with 130, perhaps with a command that starts the device again.
    ///
    /// Returns if no signal has ended the work, and if the signal would not simply end the process: SIGTSTP stops it,
    /// other signals write a core dump, and process 1 of a container ignores them all. The program then exits with
    /// ``exitStatus``.
    public func endProcess() {
        guard let signal = state.withLock({ $0.signal }), ![SIGTSTP, SIGQUIT, SIGXCPU, SIGSYS].contains(signal) else {
            return
        }
        Glibc.signal(signal, SIG_DFL)
        Self.unblock(signal)
        raise(signal)
    }

    /// Whether Ctrl-Z has ended the work.
    public var wasSuspended: Bool { state.withLock { $0.signal } == SIGTSTP }

    /// Sets the message for standard error if a second signal ends the program before its work is done; nil for none.
    public func setLastWords(_ text: String?) { state.withLock { $0.lastWords = text } }

    /// Cancels the work. Work that has not begun is cancelled when it begins.
    public func cancel() {
        let cancel = state.withLock { state in
            state.isCancelled = true
            return state.cancel
        }
        cancel?()
    }

    /// Runs the work to its end, and restores the terminal's settings. Call this once.
    ///
    /// - Parameters:
    ///   - loop: The loop that the work runs on.
    ///   - body: The work.
    ///   - conclude: Called with the result of the work. Until it returns, a second signal ends the program.
    /// - Returns: The result of `conclude`. If Ctrl-Z ended the work, returns after the program has been continued.
    public func run<Success: Sendable, Value>(
        on loop: EventLoop, _ body: @escaping @Sendable () async throws -> Success,
        conclude: (Result<Success, any Error>) async -> Value
    ) async -> Value {
        // Ignore these signals, so that a background job is not stopped when it reads from the terminal, writes to it,
        // or changes its settings.
        if endsBeforeSuspension { for stop in [SIGTTIN, SIGTTOU] { signal(stop, SIG_IGN) } }
        let task = Task(executorPreference: loop) { try await body() }
        let isCancelled = state.withLock { state in
            state.cancel = { task.cancel() }
            return state.isCancelled
        }
        if isCancelled { task.cancel() }
        let ending = SignalSource.endingSignals + (endsBeforeSuspension ? [SIGTSTP] : [])
        // If the system has no thread left, signals end the program at once.
        let signals = try? SignalSource.open(ending) { self.take($0, on: loop) }
        let value = await conclude(task.result)
        TerminalSettings.restore()
        if wasSuspended { kill(getpid(), SIGSTOP) }
        signals?.close(isEnding: true)
        return value
    }

    /// Handles a signal, on any thread. The loop may be blocked, as by a write to a blocking file: only the first
    /// signal depends on the loop.
    package func take(_ signal: CInt, on loop: EventLoop, at now: ContinuousClock.Instant = .now) {
        let first = state.withLock { state in
            let first = state.signalTime
            if first == nil { (state.signal, state.signalTime) = (signal, now) }
            return first
        }
        guard let first else { return loop.execute { self.cancel() } }
        if now - first < Self.echoTime { return }
        Self.endWithinSeconds()
        TerminalSettings.restore()
        if let lastWords = state.withLock({ $0.lastWords }) { StreamWriter.error.write(lastWords + "\n") }
        endProcess()
        _exit(exitStatus ?? 128 + signal)
    }

    /// Lets SIGALRM end the process after 2 s, in case a terminal or a disk hangs.
    private static func endWithinSeconds() {
        Glibc.signal(SIGALRM, SIG_DFL)
        unblock(SIGALRM)
        Glibc.alarm(2)
    }

    /// Lets this thread receive a signal.
    private static func unblock(_ signal: CInt) {
        var set = sigset_t()
        sigemptyset(&set)
        sigaddset(&set, signal)
        pthread_sigmask(SIG_UNBLOCK, &set, nil)
    }
}
