import ArgumentParser
import Foundation
import Testing
import TestSupport

@testable import pumpctl

@Suite("The options of every command, and what they mean for each")
struct OptionUseTests {
    /// Each command that can be run, by its name with those of its groups.
    private static func commands(
        of group: any ParsableCommand.Type = PumpctlCommand.self, _ path: [String] = []
    ) -> [(path: [String], command: any ParsableCommand.Type)] {
        let all = group.configuration.subcommands
        guard !all.isEmpty else { return [(path, group)] }
        return all.flatMap { commands(of: $0, path + [$0.configuration.commandName ?? "?"]) }
    }

    @Test("Every command says which of them mean something: see OptionUse.swift")
    func declarations() {
        let commands = Self.commands()
        #expect(commands.count > 25)
        for (path, command) in commands {
            #expect(command is any OptionedCommand.Type, "\(path) has to say which options it takes")
        }
    }

    /// What stands for each option on a command line.
    private static let words: [SharedOption: [String]] = [
        .port: ["--port", "nosuch"], .family: ["--family", "pump"], .json: ["--json"], .timeout: ["--timeout", "2"],
        .wait: ["--wait", "2s"], .capture: ["--capture", "file"], .reset: ["--reset"], .record: ["--record"],
        .verbose: ["-v"],
    ]

    @Test("What means nothing for a command is refused, before its name and behind it")
    func idleOptions() throws {
        for (path, command) in Self.commands() {
            guard let optioned = command as? any OptionedCommand.Type else { continue }
            let taken = optioned.takenOptions
            let more = path == ["forget"] ? ["--all"] : []
            for option in SharedOption.allCases where !taken.contains(option) {
                let words = try #require(Self.words[option])
                for arguments in [words + path + more, path + more + words] {
                    let failure = #expect(throws: Failure.self) {
                        try optioned.checkOptions(in: arguments, path.joined(separator: " "))
                    }
                    #expect(failure?.status == .usage)
                    #expect(failure?.message.hasPrefix("--\(option.rawValue) cannot be used with") == true)
                    #expect(failure?.hint?.hasPrefix("omit it") == true)
                }
            }
        }
    }

    @Test(
        "Two endpoints are refused: which is meant can't be told",
        arguments: [
            "--port A --port B status", "-p A -p B status", "status --port=A -p B", "-p X storm -p A -p B log get",
            "-p X storm log get -p A --json --port=B", "-p A -p B", "-p status -p B status", "-p A status -p B",
            "-p A storm log get --port=B", "-p status status -p B", "-p X off -p sim:pump",
        ])
    func twoPorts(line: String) throws {
        let arguments = line.split(separator: " ").map(String.init)
        let failure = try #require(throws: Failure.self) { try SharedOption.checkPorts(in: arguments) }
        #expect(failure.status == .usage && failure.message.hasPrefix("--port is given twice: "))
        #expect(failure.hint?.contains("omit") == true)
    }

    @Test(
        "One endpoint twice is one",
        arguments: ["-p A status -p A", "-p status status --port=status", "send -- -p -p", "--port A send -- -p -p"])
    func onePort(line: String) throws {
        let arguments = line.split(separator: " ").map(String.init)
        try SharedOption.checkPorts(in: arguments)
    }

    @Test("What means something is taken")
    func usefulOptions() throws {
        let lines = [
            "history --family pump --json", "scan --json -f led", "doctor --port /dev/ttyUSB0 --json", "ports --json",
            "-p X -f pump --json --timeout 2 --reset --record -v status", "-p X led get -v", "sim pump --json",
            "-p X message sync --timeout 2",
        ]
        for line in lines {
            let arguments = FormerCommands.rewritten(line.split(separator: " ").map(String.init))
            let command = try #require(CommandWords(arguments).command as? any OptionedCommand.Type)
            try command.checkOptions(in: arguments, "")
            _ = try PumpctlCommand.parsed(arguments)
        }
    }

    @Test("The help of a command shows just the options that mean something for it")
    func help() throws {
        for (path, command) in Self.commands() {
            guard let optioned = command as? any OptionedCommand.Type else { continue }
            let help = PumpctlCommand.helpMessage(for: command, columns: 200).split(separator: "\nOPTIONS:").last ?? ""
            for option in SharedOption.allCases {
                let isShown = option.spellings.contains { help.contains("\($0) ") || help.contains("\($0)\n") }
                #expect(isShown == optioned.takenOptions.contains(option), "\(path) and \(option)")
            }
        }
    }

    @Test("The help of each command ends its text with an example that the program would take")
    func examples() throws {
        for (path, command) in Self.commands() {
            let help = command.configuration.discussion
            let example = try #require(help.split(separator: "Example: pumpctl ").last, "\(path) has no example")
            let found = CommandWords(Self.unquoted(String(example)))
            #expect(found.path == path, "\(example)")
            #expect(found.failure == nil)
            _ = try PumpctlCommand.parsed(NegativeNumbers.asValues(in: Self.unquoted(String(example))))
        }
    }

    /// The words of a line as a shell would split it.
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

    @Test("The program refuses them with 64, also as JSON")
    func program() async throws {
        let ending = try await Pumpctl.run("ports", "--port", "nosuch", "--json")
        expectFailure(ending, 64, saying: "--port cannot be used with 'pumpctl ports'", hint: "omit it")
        #expect(try ending.object()["error"] as? String == "usage")
        let unrecorded = try await Pumpctl.run("history", "--no-record")
        expectFailure(unrecorded, 64, saying: "--no-record cannot be used with", hint: "omit it")
    }

    @Test("--reset needs a serial port", arguments: ["sim:pump", "tcp:127.0.0.1:1", "ble:HMSoft", "unix:/nowhere"])
    func reset(endpoint: String) async throws {
        let ending = try await Pumpctl.run("-p", endpoint, "status", "--reset")
        expectFailure(ending, 64, saying: "\(endpoint): --reset needs the DTR line", hint: "omit --reset")
    }

    @Test("doctor looks at one port, and says so where two are named")
    func twoPorts() async throws {
        let ending = try await Pumpctl.run("doctor", "-p", "/dev/a", "/dev/b")
        expectFailure(ending, 64, saying: "name one port: '/dev/a' or '/dev/b'", hint: "pumpctl doctor")
    }
}
