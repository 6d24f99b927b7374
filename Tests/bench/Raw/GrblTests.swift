import Glibc
import TestSupport
import Testing

/// A controller of no known family on the emulated chip: a stand-in for Grbl 1.1.
@Suite("Bench: a device of no known family", .enabled(if: FirmwareBuild.reasonToSkip == nil), .timeLimit(.minutes(10)))
struct GrblTests {
    private static let folder = FirmwareBuild.sources + "/Tests/bench/grbl"
    /// The options that name the last line of a reply, and the line that is an error.
    private static let ends = ["--until", "ok|error:*", "--fails-on", "error:*"]

    /// A job of 43 lines, whose moves take less than a second.
    private static let job =
        "G1 F6000\n" + (1...42).map { "G1 X\($0.isMultiple(of: 2) ? 1 : 0) (a move)\n" }.joined()

    /// A TCP address derived from the process ID, so that no other test process uses it.
    private static let tcp = "127.78.\(getpid() >> 8 & 0xFF).\(getpid() & 0xFF):4000"

    private static let builds = Task {
        try await FirmwareBuild.ready()
        let ending = try await ChildProcess(["make", "-C", folder]).ending(within: .seconds(300))
        guard ending.status == 0 else { throw NotBuilt(ending: ending) }
    }

    private struct NotBuilt: Error { var ending: ChildProcess.Ending }

    /// Calls `body` while a board runs in real time. `folder` is empty except for `port`.
    private func withBoard(_ body: (_ port: String, _ folder: TemporaryFolder) async throws -> Void) async throws {
        try await Self.builds.value
        await FirmwareSlots.shared.take()
        let folder = TemporaryFolder()
        let port = folder.path("grbl")
        do {
            let board = try await ChildProcess([
                FirmwareBuild.nanoSim, "--baud", "115200", "--exit-on-eof", "--link", port,
                Self.folder + "/build/grbl.elf",
            ])
            _ = try await board.output.line("the board's pty")
            try await body(port, folder)
            await board.closeInput()
            try await board.ending()
        } catch {
            await FirmwareSlots.shared.giveBack()
            throw error
        }
        await FirmwareSlots.shared.giveBack()
    }

    /// Runs pumpctl on a device of the family `raw` with `input` as its standard input, and waits for its end.
    private func pumpctl(_ port: String, _ words: String..., input: String? = nil) async throws -> ChildProcess.Ending {
        let options = ["--port", port, "--family", "raw", "--timeout", "60"]
        let process = try await ChildProcess([Executable.pumpctl] + options + words)
        if let input { try await process.write(input) }
        await process.closeInput()
        return try await process.ending(within: patience)
    }

    private func lines(_ text: String) -> [Substring] { text.split(separator: "\n") }

    @Test("send gets the replies to lines, single characters and bytes, and exits with 1 if the reply is an error")
    func send() async throws {
        try await withBoard { port, _ in
            let information = try await pumpctl(port, "send", "$I", "--until", "ok|error:*")
            #expect(information.status == 0)
            #expect(lines(information.output).suffix(3) == ["[VER:1.1h.20190825:]", "[OPT:V,15,128]", "ok"])
            let status = try await pumpctl(port, "send", "--ends", "none", "?", "--until", "<*>")
            #expect(lines(status.output) == ["<Idle|MPos:0.000,0.000,0.000|FS:0,0>"])
            let reset = try await pumpctl(port, "send", "--escapes", "?\\x18", "--until", "Grbl *")
            #expect(lines(reset.output).last == "Grbl 1.1h ['$' for help]")
            let bytes = try await pumpctl(port, "send", "--hex", "24 58 0a", "--until", "ok")
            #expect(lines(bytes.output) == ["ok"])
            let wrong = try await pumpctl(
                port, "send", "G1 Q", "--until", "ok|error:*", "--fails-on", "error:*")
            #expect(wrong.status == 1)
            #expect(wrong.errors.contains("the device answered error:2"))
            #expect(try await pumpctl(port, "send", "--no-answer", "G0 X1").output == "")
        }
    }

    @Test("A job runs line by line and stops at an error, and its capture replays")
    func job() async throws {
        try await withBoard { port, folder in
            // 600 s of silence never pass, so only the patterns end a reply.
            let options = ["console", "--quiet", "600"] + Self.ends
            let capture = folder.path("job.capture")
            let record = try await ChildProcess(
                [Executable.pumpctl, "--port", port, "--family", "raw", "--timeout", "60", "record", capture, "--"]
                    + options)
            try await record.write(Self.job)
            await record.closeInput()
            let done = try await record.ending(within: patience)
            #expect(done.status == 0, "\(done.errors)")
            #expect(lines(done.output).filter { $0 == "ok" }.count == 43)
            let wrong = try await pumpctl(
                port, "console", "--until", "ok|error:*", "--fails-on", "error:*", input: "G1 X1\nG1 Q\nG1 X9\nG1 X8\n")
            #expect(wrong.status == 1)
            #expect(lines(wrong.output).suffix(2) == ["ok", "error:2"])
            #expect(wrong.errors.contains("not sent: 2 lines"))
            // The same job on the replayed capture gets the same replies.
            let again = try await pumpctl(
                "replay:\(capture)?pace=none", "console", "--until", "ok|error:*", "--quiet", "600", input: Self.job)
            #expect(again.status == 0, "\(again.errors)")
            #expect(again.output == done.output)
        }
    }

    @Test("Clients at a pseudo-terminal, TCP and a Unix socket get the device's reply, and so does a listener")
    func serve() async throws {
        try await withBoard { port, folder in
            let (terminal, socket) = (folder.path("pty"), folder.path("socket"))
            let daemon = try await ChildProcess([
                Executable.pumpctld, "--port", port, "--family", "raw", "--pty", terminal, "--unix", socket,
                "--tcp", Self.tcp, "--socket", folder.path("daemon"),
            ])
            try await daemon.errors.text(upTo: "the link is open")
            for place in [terminal, "tcp:\(Self.tcp)", "unix:\(socket)"] {
                let listener = try await ChildProcess([
                    Executable.pumpctl, "--port", "unix:\(socket)", "--family", "raw", "monitor", "--json",
                ])
                try await daemon.errors.text(upTo: "a client has connected client=\"pid \(listener.processID) ")
                let status = try await pumpctl(place, "send", "--ends", "none", "?", "--until", "<*>")
                #expect(lines(status.output).last == "<Idle|MPos:0.000,0.000,0.000|FS:0,0>", "\(place): \(status)")
                let line = try await listener.output.line("what the device has said")
                #expect(line.contains("\"line\":\"<Idle|MPos:0.000,0.000,0.000|FS:0,0>\""), "\(place): \(line)")
                listener.send(signal: SIGTERM)
                try await listener.ending()
            }
            daemon.send(signal: SIGTERM)
            try await daemon.ending()
        }
    }

    @Test("pumpctld without --family exits if the device does not answer like a pump")
    func unknown() async throws {
        try await withBoard { port, folder in
            let socket = folder.path("socket")
            let daemon = try await ChildProcess([
                Executable.pumpctld, "--port", "serial:\(port)?baud=115200", "--unix", socket,
                "--socket", folder.path("daemon"),
            ])
            try await daemon.errors.text(upTo: "the link is open")
            for _ in 0..<2 {
                let status = try await ChildProcess([Executable.pumpctl, "--port", "unix:\(socket)", "status"]).ending()
                #expect(status.status != 0)
            }
            let ending = try await daemon.ending(within: patience)
            #expect(ending.status == 64)
            #expect(ending.errors.contains("does not answer as a pump does: error:"))
            #expect(ending.errors.contains("set it to raw"))
        }
    }
}
