import DescriptorIO
import Glibc
import SerialPort
import TestSupport
import Testing

// Third-party programs as clients of `pumpctl sim pump`.
@Suite("Bench: other programs at the simulated pump")
struct ClientTests {
    /// Calls `body` while `pumpctl sim pump` runs.
    private func withSim(_ body: (_ path: String) async throws -> Void) async throws {
        let folder = TemporaryFolder()
        let path = folder.path("pump")
        let sim = try await ChildProcess([Executable.pumpctl, "sim", "pump", "--unpaced", "--link", path])
        _ = try await sim.output.line("the simulator's port")
        try await body(path)
        sim.send(signal: SIGTERM)
        #expect(try await sim.ending().status == 143)
    }

    /// Debian's Python, which has Debian's pyserial.
    private static let python = "/usr/bin/python3"
    private static let hasPyserial = access("/usr/lib/python3/dist-packages/serial/__init__.py", R_OK) == 0

    @Test("pyserial gets every reply", .enabled(if: hasPyserial, "not installed: python3-serial"))
    func pyserial() async throws {
        try await withSim { path in
            let script = #filePath.replacing("ClientTests.swift", with: "pyserial_client.py")
            let client = try await ChildProcess([Self.python, script, path])
            try await client.write(ClientDialogue.turns.map { "\($0.back.count)\t\($0.out)\n" }.joined())
            await client.closeInput()
            let ending = try await client.ending(within: .seconds(120))
            #expect(ending.status == 0, "\(ending.errors)")
            let lines = ending.output.split(separator: "\n").filter { $0.hasPrefix("< ") }.map {
                String($0.dropFirst(2))
            }
            #expect(ClientDialogue.isAnswered(by: lines), "\(lines)")
        }
    }

    @Test("socat gets every reply", .enabled(if: Executable.find("socat") != nil, "not installed: socat"))
    func socat() async throws {
        try await withSim { path in
            let client = try await ChildProcess(["socat", "-", "\(path),raw,echo=0"])
            let lines = try await converse(with: client.output, lineEnd: "\n") { try await client.write($0) }
            #expect(ClientDialogue.isAnswered(by: lines), "\(lines)")
            client.send(signal: SIGTERM)
            try await client.ending()
        }
    }

    @Test("picocom gets every reply", .enabled(if: Executable.find("picocom") != nil, "not installed: picocom"))
    func picocom() async throws {
        try await withSim { path in
            let terminal = try PseudoTerminal()
            let (channel, screen) = (terminal.channel(), Watched(ReceivedText()))
            await channel.gather(into: screen)
            // `--omap crlf` sends a line feed for each carriage return, which is what the Enter key types.
            let client = try await ChildProcess(
                ["picocom", "--baud", "9600", "--nolock", "--omap", "crlf", path], terminal: terminal.path,
                streamsOnTerminal: true)
            // picocom discards input that is typed before its greeting.
            while try await screen.line("picocom's greeting") != "Terminal ready" {}
            let lines = try await converse(with: screen, lineEnd: "\r") { try await channel.write(Array($0.utf8)) }
            #expect(ClientDialogue.isAnswered(by: lines), "\(lines)")
            // Ctrl-A Ctrl-X: picocom's exit command.
            try await channel.write([0x01, 0x18])
            #expect(try await client.ending().status == 0)
            await channel.close()
        }
    }

    /// Sends each command of the dialogue after the previous reply; returns the received lines.
    ///
    /// - Parameters:
    ///   - screen: The program's output.
    ///   - say: Sends a command to the program.
    private func converse(
        with screen: Watched<ReceivedText>, lineEnd: String, say: (String) async throws -> Void
    ) async throws -> [String] {
        var lines: [String] = []
        for turn in ClientDialogue.turns {
            try await say(turn.out + lineEnd)
            for wanted in turn.back {
                var line: String
                repeat {
                    line = try await screen.line("\(wanted) in answer to \(turn.out)")
                    lines.append(line)
                } while !line.hasPrefix(wanted) && line.isReport
            }
        }
        return lines
    }
}
