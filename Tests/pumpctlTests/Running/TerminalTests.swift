import DescriptorIO
import FirmwareSim
import Foundation
import Glibc
import SerialPort
import Testing
import TestSupport

@Suite("Restored terminal settings")
struct TerminalTests {
    /// A terminal with usual settings: it echoes, edits lines and handles Ctrl-C. The test types and reads like a user.
    final class UserTerminal {
        let terminal: PseudoTerminal
        /// The terminal's output that no test has taken yet.
        let screen = Watched(ReceivedText())
        private let channel: DescriptorChannel

        var path: String { terminal.path }

        init() async throws {
            terminal = try PseudoTerminal()
            var settings = termios()
            tcgetattr(terminal.descriptor, &settings)
            settings.c_iflag |= tcflag_t(ICRNL | IXON)
            settings.c_oflag |= tcflag_t(OPOST | ONLCR)
            settings.c_lflag |= tcflag_t(ISIG | ICANON | ECHO | ECHOE | ECHOK | IEXTEN)
            tcsetattr(terminal.descriptor, TCSANOW, &settings)
            channel = terminal.channel()
            await channel.gather(into: screen)
        }

        /// All settings that a program can change, as text.
        var settings: String {
            var settings = termios()
            tcgetattr(terminal.descriptor, &settings)
            let characters = withUnsafeBytes(of: settings.c_cc) { Array($0) }
            return "\(settings.c_iflag) \(settings.c_oflag) \(settings.c_cflag) \(settings.c_lflag) \(characters)"
        }

        func type(_ text: String) async throws { try await channel.write(Array(text.utf8)) }

        func close() async { await channel.close() }
    }

    @Test(
        "Terminal settings are unchanged after success, refusal and a missing port",
        arguments: [("on", 0), ("speed", 1), ("nowhere", 66)] as [(String, Int32)])
    func afterCommands(kind: String, status: Int32) async throws {
        let user = try await UserTerminal()
        let before = user.settings
        let pump = try await BenchPump()
        let arguments =
            switch kind {
            case "on": ["-p", pump.port, "on"]
            case "speed": ["-p", pump.port, "speed", "9"]
            default: ["-p", "/proc/nowhere", "on"]
            }
        let program = try await Pumpctl.start(arguments, terminal: user.path)
        #expect(try await program.ending().status == status)
        #expect(user.settings == before)
        await pump.close()
        await user.close()
    }

    @Test("Terminal settings are unchanged after Ctrl-C")
    func afterInterrupt() async throws {
        let user = try await UserTerminal()
        let before = user.settings
        let pump = try await BenchPump()
        let program = try await Pumpctl.start(["-p", pump.port, "on", "--for", "10m"], terminal: user.path)
        try await user.screen.text(upTo: "pump on")
        try await user.type("\u{3}")
        #expect(try await program.ending().status == 130)
        #expect(user.settings == before)
        #expect(await pump.state() == .off)
        await pump.close()
        await user.close()
    }

    @Test("A program without a terminal does not get the port as its controlling terminal")
    func withoutTerminal() async throws {
        let pump = try await BenchPump()
        let program = try await Pumpctl.start(["-p", pump.port, "monitor"], program: ["setsid", Executable.pumpctl])
        _ = try await program.output.line()
        let text = try String(contentsOfFile: "/proc/\(program.processID)/stat", encoding: .utf8)
        // The fields after the name: state, parent, group, session, terminal.
        let fields = text.split(separator: ")").last?.split(separator: " ") ?? []
        #expect(fields.count > 4 && fields[3] == "\(program.processID)" && fields[4] == "0", "\(text)")
        program.send(signal: SIGINT)
        #expect(try await program.ending().status == 130)
        await pump.close()
    }

    @Test(
        "Terminal settings are restored if the terminal itself was named as the port", arguments: ["/dev/tty", "PATH"])
    func asDevice(port: String) async throws {
        let user = try await UserTerminal()
        let before = user.settings
        let path = port == "PATH" ? user.path : port
        let program = try await Pumpctl.start(["-p", path, "--timeout", "0.3", "status"], terminal: user.path)
        let ending = try await program.ending()
        #expect([75, 76].contains(ending.status), "\(user.screen.state)")
        #expect(user.settings == before)
        await user.close()
    }

    @Test("Terminal settings are restored after an interrupt with the terminal as the port")
    func asDeviceInterrupted() async throws {
        let user = try await UserTerminal()
        let before = user.settings
        let program = try await Pumpctl.start(["-p", user.path, "--timeout", "600", "status"], terminal: user.path)
        // The first query was sent, so pumpctl has changed the settings.
        try await user.screen.text(upTo: "TEMP")
        program.send(signal: SIGINT)
        #expect(try await program.ending().status == 130)
        #expect(user.settings == before)
        await user.close()
    }
}
