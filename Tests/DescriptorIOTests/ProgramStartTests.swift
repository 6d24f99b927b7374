import DescriptorIO
import Glibc
import Synchronization
import Testing

@Suite("Program starts", .timeLimit(.minutes(5)))
struct ProgramStartTests {
    /// Runs a script in a shell, started as `change` says; returns its output and its exit status.
    private func output(
        _ script: String, _ change: (inout ProgramStart) -> Void = { _ in }
    ) async throws -> (text: String, status: Int32) {
        var ends: [CInt] = [-1, -1]
        try #require(socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0)
        defer { close(ends[0]) }
        var start = ProgramStart("sh", ["sh", "-c", script])
        start.descriptors = [STDOUT_FILENO: ends[1]]
        change(&start)
        // Block the ending signals, like a program that handles them.
        var (signals, before) = (sigset_t(), sigset_t())
        sigemptyset(&signals)
        for signal in SignalSource.endingSignals { sigaddset(&signals, signal) }
        pthread_sigmask(SIG_BLOCK, &signals, &before)
        let process = Result { try start.start() }
        pthread_sigmask(SIG_SETMASK, &before, nil)
        close(ends[1])
        let status = try await ProcessEnd.status(of: process.get(), on: .shared)
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        let count = read(ends[0], &buffer, buffer.count)
        return (String(decoding: buffer[..<max(0, count)], as: UTF8.self), status)
    }

    @Test("A program is found on PATH and inherits the environment with additions")
    func environment() async throws {
        let script = #"echo "$PATH"; echo "$NEW"; tr '\0' '\n' </proc/$$/environ | grep -c ^HOME=; echo "$HOME""#
        let (text, status) = try await output(script) { $0.variables = ["NEW": "a=b", "HOME": "/elsewhere"] }
        #expect(text == "\(String(cString: getenv("PATH")))\na=b\n1\n/elsewhere\n")
        #expect(status == 0)
    }

    @Test("A broken pipe ends a started program")
    func brokenPipe() async throws {
        // A shell can't undo an ignored signal that it inherits.
        let before = signal(SIGPIPE, SIG_IGN)
        defer { signal(SIGPIPE, before) }
        #expect(try await output("kill -PIPE $$; exit 1").status == 128 + SIGPIPE)
    }

    @Test("A started program blocks no signal and inherits ignored signals other than SIGPIPE")
    func signals() async throws {
        let before = signal(SIGHUP, SIG_IGN)
        defer { signal(SIGHUP, before) }
        // exec, because a shell that kept running would unblock the signals.
        let (text, _) = try await output("exec grep -E '^Sig(Blk|Ign):' /proc/self/status")
        let sets = text.split(separator: "\n").map { UInt64($0.split(separator: "\t").last ?? "", radix: 16) }
        try #require(sets.count == 2, "\(text)")
        #expect(sets[0] == 0)
        #expect(sets[1].map { $0 >> (SIGHUP - 1) & 1 } == 1)
    }

    @Test("A started program has a session of its own on request", arguments: [true, false])
    func session(isOwn: Bool) async throws {
        // Field 6 of `stat` is the session, which has the number of the process that began it: see setsid(2).
        let (text, _) = try await output("cut -d' ' -f6 /proc/$$/stat; echo $$") { $0.hasOwnSession = isOwn }
        let lines = text.split(separator: "\n")
        #expect((lines.first == lines.last) == isOwn, "\(text)")
    }

    @Test("A process is reaped only after its end is reported")
    func end() async throws {
        let process = try ProgramStart("sh", ["sh", "-c", "exit 5"]).start()
        let wasThere = Mutex(false)
        let status = try await ProcessEnd.status(of: process, on: .shared) {
            wasThere.withLock { $0 = kill(process, 0) == 0 }
        }
        #expect(status == 5)
        #expect(wasThere.withLock { $0 })
        #expect(kill(process, 0) != 0)
    }
}
