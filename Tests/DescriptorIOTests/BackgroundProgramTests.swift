import DescriptorIO
import Glibc
import Testing

@Suite("Background programs")
struct BackgroundProgramTests {
    /// Starts a script in the background. Each test needs an environment variable of its own as the mark, because the
    /// tests share one process.
    private func start(_ script: String, mark: String) throws -> BackgroundProgram.Start {
        try BackgroundProgram(mark: mark).start(["sh", "-c", script], program: "/bin/sh")
    }

    @Test("A background program reports that it is ready, and has its own session")
    func ready() throws {
        // Field 6 of the process's `stat` is its session: see setsid(2).
        let script = #"test -n "$TEST_READY" && echo "$(cut -d' ' -f6 /proc/$$/stat) $$" && printf '\0' && read line"#
        guard case .ready(let process, let output) = try start(script, mark: "TEST_READY") else {
            Issue.record("it did not come to be ready")
            return
        }
        #expect(output == "\(process) \(process)\n")
        #expect(getenv("TEST_READY") == nil)
        kill(process, SIGKILL)
        waitpid(process, nil, 0)
    }

    @Test(
        "A program that ends before it is ready is reported with its status and output",
        arguments: [
            ("echo no; exit 7", BackgroundProgram.Start.ended(status: 7, output: "no\n")),
            ("exit 0", .ended(status: 0, output: "")), ("kill -9 $$", .ended(status: 137, output: "")),
        ])
    func ended(script: String, start expected: BackgroundProgram.Start) throws {
        #expect(try start(script, mark: "TEST_ENDED") == expected)
    }

    @Test("A background program starts with no signal blocked")
    func signals() throws {
        var (blocked, before) = (sigset_t(), sigset_t())
        sigemptyset(&blocked)
        sigaddset(&blocked, SIGTERM)
        pthread_sigmask(SIG_BLOCK, &blocked, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        let start = try start("exec grep SigBlk /proc/self/status", mark: "TEST_SIGNALS")
        #expect(start == .ended(status: 0, output: "SigBlk:\t0000000000000000\n"))
    }

    @Test("Starting a missing program fails")
    func missing() {
        #expect(throws: DescriptorError.self) {
            try BackgroundProgram(mark: "TEST_MISSING").start(["x"], program: "/nonexistent/program")
        }
    }
}
