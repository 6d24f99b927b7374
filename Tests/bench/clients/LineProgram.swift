import DescriptorIO
import Glibc
import SerialPort
import TestSupport

/// A third-party program with an open serial line: it sends its own input on the line, and prints everything that comes
/// from the line.
struct LineProgram: Sendable {
    let name: String
    private let program: ChildProcess
    private let screen: Watched<ReceivedText>
    /// The terminal on which the program runs; nil if its standard streams are pipes.
    private let terminal: DescriptorChannel?

    /// Debian's Python, which has Debian's pyserial.
    private static let python = "/usr/bin/python3"

    /// The Debian packages that are needed and not installed.
    static let missing: [String] = [
        (access("/usr/lib/python3/dist-packages/serial/__init__.py", R_OK) == 0, "python3-serial"),
        (Executable.find("socat") != nil, "socat"), (Executable.find("tio") != nil, "tio"),
    ].filter { !$0.0 }.map(\.1)

    /// Starts a script that uses pyserial like a terminal program.
    static func pyserial(at path: String) async throws -> LineProgram {
        let script = #filePath.replacing("LineProgram.swift", with: "pyserial_terminal.py")
        return LineProgram("pyserial", try await ChildProcess([python, script, path]))
    }

    /// Starts socat between its standard streams and an address in socat's syntax.
    static func socat(at address: String) async throws -> LineProgram {
        LineProgram("socat", try await ChildProcess(["socat", "-", address]))
    }

    /// Starts tio on a terminal of its own.
    static func tio(at path: String) async throws -> LineProgram {
        let terminal = try PseudoTerminal()
        let (channel, screen) = (terminal.channel(), Watched(ReceivedText()))
        await channel.gather(into: screen)
        let program = try await ChildProcess(["tio", path], terminal: terminal.path, streamsOnTerminal: true)
        try await screen.text(upTo: "Connected\u{1B}[0m\r\n")
        return LineProgram("tio", program, screen, channel)
    }

    private init(
        _ name: String, _ program: ChildProcess, _ screen: Watched<ReceivedText>? = nil,
        _ terminal: DescriptorChannel? = nil
    ) {
        self.name = name
        self.program = program
        self.screen = screen ?? program.output
        self.terminal = terminal
    }

    func say(_ line: String) async throws {
        if let terminal {
            try await terminal.write(Array("\(line)\n".utf8))
        } else {
            try await program.write("\(line)\n")
        }
    }

    /// Waits for the next line that the program prints; throws ``NotInTime`` after `deadline`.
    func line(_ what: String, within deadline: Duration) async throws -> String {
        try await screen.line(what, within: deadline)
    }

    /// Ends the program: by the end of its input, or at a terminal by Ctrl-T q, tio's exit command.
    func end() async throws {
        if let terminal { try await terminal.write([0x14, UInt8(ascii: "q")]) } else { await program.closeInput() }
        try await program.ending()
        await terminal?.close()
    }
}
