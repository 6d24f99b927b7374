import Glibc
import TestSupport
import Testing

@testable import DescriptorIO

@Suite("Processes that hold a device", .timeLimit(.minutes(5)))
struct HoldingProcessTests {
    @Test("A process of this user gets a kill hint")
    func own() async throws {
        let child = try await ChildProcess(["cat"])
        let process = HoldingProcess(child.processID)
        #expect(process.isThere && process.isOurs && !process.isStopped)
        #expect(process.endingHint == "end it first: kill \(child.processID)")
        await child.closeInput()
        try await child.ending()
        #expect(!process.isThere && !process.isOurs && !process.isStopped)
        #expect(process.endingHint == "try again: it has ended")
        #expect(HoldingProcess(getpid()).endingHint == "close it in this program first")
    }

    @Test("A stopped process gets a hint to resume it first")
    func stopped() async throws {
        let child = try await ChildProcess(["sh", "-c", "kill -STOP $$; echo resumed"])
        let process = HoldingProcess(child.processID)
        while !process.isStopped { await Task.yield() }
        #expect(process.kind == .stopped(isThisProgram: false))
        #expect(process.endingHint == "resume it: kill -CONT \(child.processID); then end it")
        child.send(signal: SIGCONT)
        #expect(try await child.output.line() == "resumed")
        try await child.ending()
    }

    @Test("A process of another user gets a hint to ask its owner")
    func foreign() async throws {
        // Process 1 belongs to root. If the test runs as root, another user's process is needed.
        let child = try await ChildProcess(
            geteuid() == 0
                ? ["setpriv", "--reuid", "65534", "--clear-groups", "sh", "-c", "echo ready; read line"]
                : ["sh", "-c", "echo ready; read line"])
        #expect(try await child.output.line() == "ready")
        let process = HoldingProcess(geteuid() == 0 ? child.processID : 1)
        #expect(!process.isOurs)
        let name = geteuid() == 0 ? "nobody" : "root"
        #expect(process.endingHint == "ask \(name), who runs it, to end it")
        #expect(process.resumingHint == "ask \(name), who runs it, to resume it")
        await child.closeInput()
        try await child.ending()
    }

    @Test("An ancestor such as a shell gets no kill hint")
    func ancestor() {
        let process = HoldingProcess(getppid())
        #expect(process.kind == .ancestor || !process.isOurs)
        #expect(!process.endingHint.contains("kill "))
    }

    @Test("Another process of this program gets no kill hint, as it may be sending OFF")
    func sameProgram() async throws {
        let (folder, name) = (TemporaryFolder(), try #require(TextFile.contents(of: "/proc/self/comm")))
        let path = folder.path(String(name.dropLast()))
        try await ChildProcess(["cp", "/bin/cat", path]).ending()
        let child = try await ChildProcess([path])
        // The echo proves that `cat` is running: until exec(2) the child is a copy of this process.
        try await child.write("ready\n")
        #expect(try await child.output.line() == "ready")
        #expect(HoldingProcess(child.processID).kind == .sameProgram)
        #expect(!HoldingProcess(child.processID).endingHint.contains("kill "))
        await child.closeInput()
        try await child.ending()
    }

    @Test("A hint for several processes kills only those that may be killed, and names the others")
    func several() {
        let kinds: [HoldingProcess.Kind] = [
            .other, .foreign(user: "root"), .stopped(isThisProgram: false), .other, .sameProgram, .ancestor, .gone,
            .foreign(user: nil), .stopped(isThisProgram: true),
        ]
        func hint(_ processes: Int32...) -> String { HoldingProcess.endingHint(processes) { kinds[Int($0)] } }
        #expect(hint(0) == "end it first: kill 0")
        #expect(hint(0, 3) == "end them first: kill 0 3")
        #expect(hint(0, 1) == "end 0 first: kill 0; ask root, who runs 1, to end it")
        #expect(hint(2) == "resume it: kill -CONT 2; then end it")
        #expect(hint(0, 4) == "end 0 first: kill 0; wait until 4 ends, or end it where it was started")
        #expect(hint(5) == "close it in that program first, which started this command")
        #expect(hint(6, 7) == "try again: 6 has ended; find out who runs 7, and ask that user to end it: sudo ps -fp 7")
        // There is no hint to end a stopped pumpctl: it may be sending OFF.
        #expect(hint(8) == "resume it: kill -CONT 8")
    }
}
