import DescriptorIO
import Glibc
import TestSupport
import Testing

@testable import pumpctld

@Suite(
    "Other users of the machine", .timeLimit(.minutes(5)),
    .enabled(if: geteuid() == 0, "only root can start a program as another user"))
struct OtherUserTests {
    /// A pump shared by root's pumpctld. Every user can enter the test's folder, which has the share's socket and the
    /// pseudo-terminal.
    private struct Bench {
        let pump: PumpBehindTerminal
        let daemon: ChildProcess
        /// The path of the daemon's control socket, which `shared:pump` uses.
        let control: String
        /// The path of the shared pseudo-terminal.
        var terminal: String { pump.folder.path("pty") }
        /// The path of the share's socket.
        var socket: String { pump.folder.path("socket") }
        /// The environment of the daemon and of the programs.
        let environment: [String: String]

        init(group: String?) async throws {
            pump = try await PumpBehindTerminal()
            let folder = pump.folder
            try folder.makeFolder("run")
            for path in [folder.path, folder.path("run")] { chmod(path, 0o755) }
            // `cp` makes the copy. If this process did, a child of another test could inherit the file open for
            // writing, and the copy could not be executed (ETXTBSY).
            try await ChildProcess(["cp", Executable.pumpctl, folder.path("pumpctl")]).ending()
            let file = folder.write(
                """
                [daemon]
                \(group.map { "group = \"\($0)\"" } ?? "")
                [device.pump]
                endpoint = "\(pump.port)"
                pty = "\(folder.path("pty"))"
                unix = "\(folder.path("socket"))"
                """, to: "pumpctld.toml")
            environment = ChildProcess.surroundings.merging(["XDG_RUNTIME_DIR": folder.path("run")]) { $1 }
            control = folder.path("run/pumpctl/pumpctld")
            daemon = try await ChildProcess([Executable.pumpctld, "--config", file], environment: environment)
            try await daemon.errors.text(upTo: "the link is open")
        }

        /// Runs a program as the user nobody, and waits for its end.
        func asNobody(_ command: [String], _ more: [String: String] = [:]) async throws -> ChildProcess.Ending {
            let nobody = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
            let program = try await ChildProcess(nobody + command, environment: environment.merging(more) { $1 })
            await program.closeInput()
            return try await program.ending()
        }

        func close() async throws {
            daemon.send(signal: SIGTERM)
            #expect(try await daemon.ending().status == 0)
            await pump.close()
        }
    }

    @Test("Another user can open no socket, pseudo-terminal or folder of pumpctld", arguments: [nil, "dialout"])
    func files(group: String?) async throws {
        let bench = try await Bench(group: group)
        let ways = [
            ["socat", "-", "UNIX-CONNECT:\(bench.control)"], ["socat", "-", "UNIX-CONNECT:\(bench.socket)"],
            ["socat", "-", "OPEN:\(bench.terminal)"], ["socat", "-", "OPEN:\(bench.pump.port)"],
            ["ls", bench.pump.folder.path("run/pumpctl")], ["touch", bench.pump.folder.path("run/pumpctl/pumpctld-1")],
        ]
        for way in ways {
            let ending = try await bench.asNobody(way)
            #expect(ending.status == (way[0] == "ls" ? 2 : 1), "\(way): \(ending)")
            #expect(ending.errors.contains("Permission denied"), "\(way): \(ending)")
        }
        try await bench.close()
    }

    @Test(
        "pumpctl reports the missing permission to another user, however the pump is named",
        arguments: [nil, "dialout"])
    func program(group: String?) async throws {
        let bench = try await Bench(group: group)
        let named = ["PUMPCTLD_SOCKET": bench.control]
        let ways: [(endpoint: String, [String: String], status: Int32, saying: String)] = [
            (bench.pump.port, [:], 77, "permission"), (bench.terminal, [:], 77, "permission"),
            ("unix:\(bench.socket)", [:], 77, "permission"), ("shared:pump", named, 77, "permission"),
            // As the user nobody, pumpctl does not search root's folder for a daemon.
            ("shared:pump", [:], 69, "no pumpctld was found"),
        ]
        for (endpoint, more, status, words) in ways {
            for command in ["status", "on", "off"] {
                let ending = try await bench.asNobody(
                    [bench.pump.folder.path("pumpctl"), "--no-record", "--port", endpoint, command], more)
                #expect(ending.status == status, "\(endpoint) \(command): \(ending)")
                #expect(ending.errors.contains(words), "\(endpoint) \(command): \(ending)")
                #expect(ending.errors.contains("\n  hint: "), "\(endpoint) \(command): \(ending)")
            }
        }
        // No byte has reached the pump, and root can use it.
        #expect(bench.pump.received.state.bytes.isEmpty)
        // PUMPCTLD_SOCKET names this daemon, because daemons of other tests also share a device named pump.
        let owner = try await ChildProcess(
            [Executable.pumpctl, "--port", "shared:pump", "on"], environment: bench.environment.merging(named) { $1 }
        ).ending()
        #expect(owner.status == 0, "\(owner)")
        try await bench.close()
    }
}
