import Glibc
import TestSupport
import Testing

@testable import DescriptorIO

@Suite("A process that has what another one wants", .timeLimit(.minutes(5)))
struct HoldingProcessTests {
    @Test("One of this user can be ended")
    func own() async throws {
        let child = try await ChildProcess(["cat"])
        let process = HoldingProcess(child.processID)
        #expect(process.isThere && process.isOurs && !process.isStopped)
        #expect(process.endingHint == "end it first: kill \(child.processID)")
        await child.closeInput()
        try await child.ending()
        #expect(!process.isThere && !process.isOurs && !process.isStopped)
        #expect(HoldingProcess(getpid()).endingHint == "close it there first")
    }

    @Test("One that was stopped has to be resumed, since it reacts to no SIGTERM")
    func stopped() async throws {
        let child = try await ChildProcess(["sh", "-c", "kill -STOP $$; echo resumed"])
        let process = HoldingProcess(child.processID)
        while !process.isStopped { await Task.yield() }
        #expect(process.endingHint == "resume it: kill -CONT \(child.processID)")
        child.send(signal: SIGCONT)
        #expect(try await child.output.line() == "resumed")
        try await child.ending()
    }

    @Test("One of another user is not this user's to end")
    func foreign() async throws {
        // The first process is root's; root itself needs one of somebody else.
        let child = try await ChildProcess(
            geteuid() == 0
                ? ["setpriv", "--reuid", "65534", "--clear-groups", "sh", "-c", "echo ready; read line"]
                : ["sh", "-c", "echo ready; read line"])
        #expect(try await child.output.line() == "ready")
        let process = HoldingProcess(geteuid() == 0 ? child.processID : 1)
        #expect(!process.isOurs)
        let name = geteuid() == 0 ? "nobody" : "root"
        #expect(process.endingHint == "ask \(name), whose program it is, to end it")
        await child.closeInput()
        try await child.ending()
    }
}
