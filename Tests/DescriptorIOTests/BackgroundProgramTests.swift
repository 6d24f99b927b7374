import DescriptorIO
import Glibc
import Testing

@Suite("A program in the background")
struct BackgroundProgramTests {
    /// Starts a script with its own environment variable as the mark, because the tests share one process.
    private func start(_ script: String, mark: String) throws -> BackgroundProgram.Start {
        try BackgroundProgram(mark: mark).start(["sh", "-c", script], program: "/bin/sh")
    }

    @Test("is ready once it says so, finds its mark, and has a session of its own")
    func ready() throws {
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
        "that ends before is told of with its status and its output",
        arguments: [
            ("echo no; exit 7", BackgroundProgram.Start.ended(status: 7, output: "no\n")),
            ("exit 0", .ended(status: 0, output: "")), ("kill -9 $$", .ended(status: 137, output: "")),
        ])
    func ended(script: String, start expected: BackgroundProgram.Start) throws {
        #expect(try start(script, mark: "TEST_ENDED") == expected)
    }

    @Test("has no signal blocked that this one has")
    func signals() throws {
        var (blocked, before) = (sigset_t(), sigset_t())
        sigemptyset(&blocked)
        sigaddset(&blocked, SIGTERM)
        pthread_sigmask(SIG_BLOCK, &blocked, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        let start = try start("exec grep SigBlk /proc/self/status", mark: "TEST_SIGNALS")
        #expect(start == .ended(status: 0, output: "SigBlk:\t0000000000000000\n"))
    }

    @Test("that is not there can't be started")
    func missing() {
        #expect(throws: DescriptorError.self) {
            try BackgroundProgram(mark: "TEST_MISSING").start(["x"], program: "/nonexistent/program")
        }
    }
}
