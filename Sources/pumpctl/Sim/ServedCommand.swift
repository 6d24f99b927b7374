import DescriptorIO
import Glibc
import Synchronization

/// A command of the user's that runs while something is served to it. Its standard streams are this program's.
final class ServedCommand: Sendable {
    private let process: pid_t
    private let hasEnded = Mutex(false)

    /// Why a command could not be started, as env(1) has it: 127 where there is none of that name, else 126.
    struct StartFailure: Error {
        var errno: CInt
        var exitStatus: Int32 { errno == ENOENT ? 127 : 126 }
    }

    /// How a command has ended.
    final class End: Sendable {
        private let state = Mutex(Int32(0))

        /// Its exit status; 0 where none was run.
        var status: Int32 {
            get { state.withLock(\.self) }
            set { state.withLock { $0 = newValue } }
        }
    }

    /// Starts a command, which is looked for on PATH, with variables in its environment that may be there already.
    init(_ words: [String], with variables: [String: String]) throws(StartFailure) {
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // This program has signals blocked and ignored that the command must not inherit so.
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigaddset(&signals, SIGPIPE)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, CShort(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        let arguments = words.map { strdup($0) } + [nil]
        defer { for word in arguments { free(word) } }
        for (name, value) in variables { setenv(name, value, 1) }
        var process: pid_t = 0
        let error = posix_spawnp(&process, words[0], nil, &attributes, arguments, environ)
        guard error == 0 else { throw StartFailure(errno: error) }
        self.process = process
    }

    /// Waits until it has ended, whatever becomes of the task. Where that is cancelled, `signal` is sent to it, if any.
    ///
    /// - Returns: Its exit status; 128 and the number of the signal that ended it.
    func end(on loop: EventLoop, signal: @escaping @Sendable () -> CInt?) async throws -> Int32 {
        // A task of its own, which nobody cancels: the command may need what is served to come to its end.
        let waiting = Task(executorPreference: loop) {
            let status = try await ProcessEnd.status(of: self.process, on: loop)
            self.hasEnded.withLock { $0 = true }
            return status
        }
        return try await withTaskCancellationHandler {
            try await waiting.value
        } onCancel: {
            hasEnded.withLock { hasEnded in
                if !hasEnded, let signal = signal() { kill(process, signal) }
            }
        }
    }
}
