import FirmwareSim
import Foundation
import TestSupport
import Testing

/// Swift's runtime reads a program's arguments from /proc. The programs must find them without it, too.
@Suite("Program arguments without /proc", .enabled(if: geteuid() == 0, "umount takes a user who may"))
struct ProgramArgumentTests {
    /// Runs a program in its own mount namespace, which only root can make, and in which /proc is empty.
    private func run(_ program: String, _ arguments: String...) async throws -> ChildProcess.Ending {
        let environment = [
            "PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "HOME": "/nonexistent", "XDG_STATE_HOME": "/nonexistent",
            "LD_LIBRARY_PATH": ProcessInfo.processInfo.environment["LD_LIBRARY_PATH"] ?? "",
        ]
        let script = "mount -t tmpfs none /proc && exec \"$@\""
        return try await ChildProcess(
            ["/usr/bin/unshare", "-m", "/bin/sh", "-c", script, "sh", program] + arguments, environment: environment
        ).ending()
    }

    @Test("pumpctl off works")
    func off() async throws {
        let pump = try await BenchPump()
        #expect(try await Pumpctl.run("-p", pump.port, "on").status == 0)
        let ending = try await run(Executable.pumpctl, "-p", pump.port, "off")
        #expect(ending.status == 0 && ending.output == "pump off\n", "\(ending)")
        #expect(await pump.state() == .off)
        await pump.close()
    }

    @Test("pumpctld parses its options")
    func daemon() async throws {
        let ending = try await run(Executable.pumpctld, "--no-such-option")
        #expect(ending.status == 64, "\(ending)")
        #expect(ending.errors.contains("--no-such-option"), "\(ending)")
    }

    @Test("pumpctl-record parses its words")
    func recorder() async throws {
        let record = try await run(Executable.pumpctlRecord, "where")
        #expect(record.status == 66 && record.output.contains("no_place"), "\(record)")
    }

    @Test("pumpctl finds its installed programs")
    func installed() async throws {
        let ending = try await run(Executable.pumpctl, "history")
        #expect(!ending.errors.contains("is not installed"), "\(ending)")
        let serve = try await run(Executable.pumpctl, "serve", "--no-such-option")
        #expect(serve.status == 64 && serve.errors.contains("--no-such-option"), "\(serve)")
    }
}
