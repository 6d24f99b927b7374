public import DescriptorIO
public import Glibc
internal import Synchronization

/// Another program with its standard streams and its exit status.
///
/// A program that is still running is killed when the last reference to this object is released, or if it has not
/// ended by the deadline of ``ending(within:)``.
public final class ChildProcess: Sendable {
    /// A program's exit and its output.
    public struct Ending: Sendable {
        /// The exit status; if a signal ended the program, 128 plus the number of the signal.
        public var status: Int32
        /// The signal that ended the program; nil if it exited.
        public var signal: Int32?
        /// The standard output that nobody has taken from ``ChildProcess/output``.
        public var output: String
        /// The error output that nobody has taken from ``ChildProcess/errors``.
        public var errors: String
    }

    /// The program could not be started, or a socket for its streams could not be created.
    public struct NotStarted: Error { public var errno: Int32 }

    /// The descriptor at which the child has the terminal open while it starts: any one above the standard streams.
    private static let terminalNumber: CInt = 9
    /// POSIX_SPAWN_SETSID, which glibc hides from Swift.
    private static let newSession: CInt = 0x80

    /// A home folder that can't be created, because its parent is a file. A program with this `HOME` finds no files of
    /// the user, and leaves none.
    public static let impossibleHome = Executable.pumpctl + "/home"

    /// The environment of this process without `PUMPCTL_…` and `XDG_…`, and with ``impossibleHome`` as `HOME`.
    public static var surroundings: [String: String] {
        var all: [String: String] = [:]
        var next = environ
        while let variable = next.pointee {
            let parts = String(cString: variable).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2, !parts[0].hasPrefix("PUMPCTL_"), !parts[0].hasPrefix("XDG_") {
                all[String(parts[0])] = String(parts[1])
            }
            next += 1
        }
        all["HOME"] = impossibleHome
        return all
    }

    public let processID: pid_t
    /// The standard output that has arrived and was not taken yet.
    public let output = Watched(ReceivedText())
    /// The error output that has arrived and was not taken yet.
    public let errors = Watched(ReceivedText())
    private let input: DescriptorChannel
    private let outputs: [DescriptorChannel]
    private let status = Watched<WaitStatus?>(nil)

    /// Starts a program and connects to its standard streams.
    ///
    /// - Parameters:
    ///   - arguments: The program, searched for in PATH, and its arguments.
    ///   - environment: The complete environment; nil for ``surroundings``.
    ///   - terminal: The path of a terminal, which becomes the controlling terminal in a new session; nil for the
    ///     session of this process.
    ///   - streamsOnTerminal: Whether the standard streams are that terminal. If so, ``output`` and ``errors`` stay
    ///     empty, and ``write(_:)`` fails.
    public init(
        _ arguments: [String], environment: [String: String]? = nil, terminal: String? = nil,
        streamsOnTerminal: Bool = false
    ) async throws {
        let streams = try (0..<3).map { _ in try Self.socketPair() }
        defer { for stream in streams { close(stream.theirs) } }

        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        if let terminal {
            // A session leader gets the first terminal that it opens as its controlling terminal.
            posix_spawn_file_actions_addopen(&actions, Self.terminalNumber, terminal, O_RDWR, 0)
        }
        if terminal != nil && streamsOnTerminal {
            for stream: CInt in 0...2 { posix_spawn_file_actions_adddup2(&actions, Self.terminalNumber, stream) }
        } else {
            for (number, stream) in streams.enumerated() {
                posix_spawn_file_actions_adddup2(&actions, stream.theirs, CInt(number))
            }
        }
        if terminal != nil { posix_spawn_file_actions_addclose(&actions, Self.terminalNumber) }

        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var flags = POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK
        if terminal != nil { flags |= Self.newSession }
        posix_spawnattr_setflags(&attributes, CShort(flags))
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)

        let words = arguments.map { strdup($0) } + [nil]
        let variables = (environment ?? Self.surroundings).map { strdup("\($0)=\($1)") } + [nil]
        defer { for string in words + variables { free(string) } }
        var child: pid_t = 0
        let error = posix_spawnp(&child, arguments[0], &actions, &attributes, words, variables)
        // Throw before the object is complete, so that `deinit` does not run: `kill` with process ID 0 would end the
        // whole process group, including these tests.
        guard error == 0 else {
            for stream in streams { close(stream.ours) }
            throw NotStarted(errno: error)
        }
        input = DescriptorChannel(taking: streams[0].ours, kind: .socket)
        outputs = streams[1...].map { DescriptorChannel(taking: $0.ours, kind: .socket) }
        for (channel, log) in zip(outputs, [output, errors]) { await channel.gather(into: log) }
        processID = child
        Self.reap(child, status)
    }

    deinit { send(signal: SIGKILL) }

    /// Returns two connected sockets, close-on-exec; `ours` is non-blocking. A pipe would do, but Swift does not see
    /// `pipe2`: without close-on-exec from the start, children that other tests start at the same time would hold the
    /// pipe open.
    private static func socketPair() throws -> (ours: CInt, theirs: CInt) {
        var ends: [CInt] = [-1, -1]
        let kind = CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw NotStarted(errno: errno) }
        _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
        return (ends[0], ends[1])
    }

    /// The status word of waitpid(2).
    private struct WaitStatus: Sendable {
        let word: CInt

        var signal: CInt? { word & 0x7F == 0 ? nil : word & 0x7F }
        var number: CInt { signal.map { 128 + $0 } ?? word >> 8 & 0xFF }
    }

    /// Waits for the child's exit on a separate thread, which then sets `status`.
    private static func reap(_ child: pid_t, _ status: Watched<WaitStatus?>) {
        final class Context: Sendable {
            let child: pid_t
            let status: Watched<WaitStatus?>
            init(_ child: pid_t, _ status: Watched<WaitStatus?>) {
                self.child = child
                self.status = status
            }
        }
        var thread = pthread_t()
        let result = pthread_create(
            &thread, nil,
            { pointer in
                let context = Unmanaged<Context>.fromOpaque(pointer!).takeRetainedValue()
                var info = siginfo_t()
                while waitid(P_PID, id_t(context.child), &info, WEXITED | WNOWAIT) < 0 && errno == EINTR {}
                // After `waitpid`, another process may get the ID: call it under the lock that `send` holds while it
                // checks the status and sends the signal.
                context.status.update { [child = context.child] status in
                    var word: CInt = 0
                    while waitpid(child, &word, 0) < 0 && errno == EINTR {}
                    status = WaitStatus(word: word)
                }
                return nil
            }, Unmanaged.passRetained(Context(child, status)).toOpaque())
        precondition(result == 0, "no thread left")
        pthread_detach(thread)
    }

    /// Writes to the program's standard input.
    public func write(_ text: String) async throws { try await input.write(Array(text.utf8)) }

    /// Ends the program's standard input.
    public func closeInput() async { await input.close() }

    /// Sends a signal, unless the program has ended.
    public func send(signal: CInt) {
        status.update { [processID] status in
            if status == nil { kill(processID, signal) }
        }
    }

    /// Sends a signal again and again until the program has ended: pumpctl counts signals within a second as one.
    public func sendUntilTheEnd(signal: CInt) async {
        repeat { send(signal: signal) } while await !hasEnded(within: .milliseconds(50))
    }

    private func hasEnded(within time: Duration) async -> Bool {
        (try? await status.wait(for: "the end of the program", within: time) { $0 }) != nil
    }

    /// Waits until the program is stopped, for example by SIGSTOP, or has ended, without a time limit. Returns whether
    /// it is stopped.
    @discardableResult
    public func untilStopped() async throws -> Bool {
        try await onThread { [processID] in
            var info = siginfo_t()
            while waitid(P_PID, id_t(processID), &info, WSTOPPED | WEXITED | WNOWAIT) != 0 {
                if errno != EINTR { return false }
            }
            return info.si_code == CInt(CLD_STOPPED)
        }
    }

    /// Waits for the exit, for at most `deadline`, and then for the end of both outputs, for at most ``patience`` each.
    ///
    /// - Throws: ``NotInTime`` if one of them does not come in time. A program that still runs is then killed.
    @discardableResult
    public func ending(within deadline: Duration = patience) async throws -> Ending {
        do {
            let status = try await status.wait(for: "the end of the program", within: deadline) { $0 }
            return Ending(
                status: status.number, signal: status.signal, output: try await output.all("its output"),
                errors: try await errors.all("its errors"))
        } catch {
            let what = status.state == nil ? "the end of the program" : "the end of its output (the program has exited)"
            send(signal: SIGKILL)
            throw NotInTime(
                what: what, state: "output \(output.state), errors \(errors.state)")
        }
    }
}

extension DescriptorChannel {
    /// Appends all input to `log` until the end of input. A read error counts as the end.
    public func gather(into log: Watched<ReceivedText>) {
        forward { arrival in
            switch arrival {
            case .success(let bytes?): log.update { $0.bytes += bytes }
            case .success(nil), .failure: log.update { $0.hasEnded = true }
            }
        }
    }
}
