import ArgumentParser
import Foundation
import Testing
import TestSupport

@testable import pumpctl

@Suite("Shared options of each command")
struct OptionUseTests {
    /// All commands without subcommands, each with its path: the names of its groups and its own name.
    private static func commands(
        of group: any ParsableCommand.Type = PumpctlCommand.self, _ path: [String] = []
    ) -> [(path: [String], command: any ParsableCommand.Type)] {
        let all = group.configuration.subcommands
        guard !all.isEmpty else { return [(path, group)] }
        return all.flatMap { commands(of: $0, path + [$0.configuration.commandName ?? "?"]) }
    }

    /// The words that give each shared option on a command line.
    private static let words: [SharedOption: [String]] = [
        .port: ["--port", "nosuch"], .family: ["--family", "pump"], .json: ["--json"], .timeout: ["--timeout", "2"],
        .wait: ["--wait", "2s"], .capture: ["--capture", "file"], .reset: ["--reset"], .record: ["--record"],
        .verbose: ["-v"],
    ]

    @Test("Every command accepts exactly the shared options that its help shows")
    func everyOption() throws {
        let commands = Self.commands()
        #expect(commands.count > 25)
        // pumpctld parses the options of serve, and record passes them to the command that it captures.
        let others: [any ParsableCommand.Type] = [ServeCommand.self, RecordCommand.self]
        for (path, command) in commands where !others.contains(where: { $0 == command }) {
            let help = PumpctlCommand.helpMessage(for: command, columns: 200).split(separator: "\nOPTIONS:").last ?? ""
            let line = try Self.example(of: command)
            let end = line.firstIndex(of: "--") ?? line.endIndex
            // The --wait of `sim` is another option than the shared one.
            for option in SharedOption.allCases where path.first != "sim" || option != .wait {
                let isShown = option.spellings.contains { help.contains("\($0) ") || help.contains("\($0)\n") }
                let words = try #require(Self.words[option])
                for arguments in [words + line, line[..<end] + words + line[end...]] {
                    var text = ""
                    do { _ = try CommandLine(arguments).parsed() } catch { text = command.message(for: error) }
                    #expect(text.contains("nknown option '\(words[0])'") != isShown, "\(arguments): \(text)")
                }
            }
        }
    }

    @Test("The help of a simulated device groups its options")
    func groups() throws {
        let parts = PumpctlCommand.helpMessage(for: SimCommand.simulations[0].command, columns: 200)
            .split(separator: "\n\n")
        for (title, option) in [
            ("PLACE", "--link"), ("DEVICE", "--knob"), ("FAULTS", "--fault"), ("TESTS OF A PROGRAM", "--expect"),
        ] {
            #expect(parts.contains { $0.hasPrefix("\(title):\n") && $0.contains(" \(option) ") }, "\(title)")
        }
    }

    @Test(
        "Two different endpoints are refused",
        arguments: [
            "--port A --port B status", "-p A -p B status", "status --port=A -p B", "-p X storm -p A -p B log get",
            "-p X storm log get -p A --json --port=B", "-p A -p B", "-p status -p B status", "-p A status -p B",
            "-p A storm log get --port=B", "-p status status -p B", "-p X off -p sim:pump",
        ])
    func twoPorts(line: String) throws {
        let arguments = line.split(separator: " ").map(String.init)
        let failure = try #require(throws: Failure.self) { try CommandLine(arguments).check() }
        #expect(failure.status == .usage && failure.message.hasPrefix("--port is given twice: "))
        #expect(failure.hint?.contains("omit") == true)
    }

    @Test(
        "The same endpoint twice is accepted",
        arguments: ["-p A status -p A", "-p status status --port=status", "send -- -p -p", "--port A send -- -p -p"])
    func onePort(line: String) throws {
        let arguments = line.split(separator: " ").map(String.init)
        try CommandLine(arguments).check()
    }

    @Test("Options that apply to a command are accepted")
    func usefulOptions() throws {
        let lines = [
            "history --family pump --json", "scan --json -f led", "doctor --port /dev/ttyUSB0 --json", "ports --json",
            "-p X -f pump --json --timeout 2 --reset --record -v status", "-p X led get -v", "sim pump --json",
            "-p X rescue sync --timeout 2", "gatt ble:X write 2A6E --type i16 -5",
            "gatt ble:X write 2A6E -5 --type i16",
        ]
        for line in lines {
            let read = CommandLine(line.split(separator: " ").map(String.init))
            try read.check()
            #expect(type(of: try read.parsed()) == read.command)
        }
    }

    @Test("The example in each command's help is valid")
    func examples() throws {
        for (path, command) in Self.commands() {
            let read = try CommandLine(Self.example(of: command))
            #expect(read.path == path || path == ["record"], "\(path)")
            try read.check()
            _ = try read.parsed()
        }
    }

    /// The words of the example in a command's help.
    private static func example(of command: any ParsableCommand.Type) throws -> [String] {
        let parts = command.configuration.discussion.split(separator: "Example: pumpctl ")
        return unquoted(String(try #require(parts.last, "there is no example")))
    }

    /// Splits a line into words like a shell.
    private static func unquoted(_ line: String) -> [String] {
        var words = [""]
        var isQuoted = false
        for character in line {
            switch character {
            case "'": isQuoted.toggle()
            case " " where !isQuoted: words.append("")
            default: words[words.count - 1].append(character)
            }
        }
        return words
    }

    @Test("Options that do not apply are refused with status 64, also as JSON")
    func program() async throws {
        let ending = try await Pumpctl.run("ports", "--port", "nosuch", "--json")
        expectFailure(ending, 64, saying: "unknown option '--port'", hint: "see pumpctl ports --help")
        #expect(try ending.object()["error"] as? String == "usage")
        let unrecorded = try await Pumpctl.run("history", "--no-record")
        expectFailure(unrecorded, 64, saying: "unknown option '--no-record'", hint: "see pumpctl history")
    }

    @Test(
        "--reset is refused without a serial port",
        arguments: ["sim:pump", "tcp:127.0.0.1:1", "ble:HMSoft", "unix:/nowhere"])
    func reset(endpoint: String) async throws {
        let ending = try await Pumpctl.run("-p", endpoint, "status", "--reset")
        expectFailure(ending, 64, saying: "\(endpoint): --reset needs the DTR line", hint: "omit --reset")
    }

    @Test("doctor refuses two ports")
    func twoPorts() async throws {
        let ending = try await Pumpctl.run("doctor", "-p", "/dev/a", "/dev/b")
        expectFailure(ending, 64, saying: "two ports are named: '/dev/a' and '/dev/b'", hint: "pumpctl doctor")
    }
}
