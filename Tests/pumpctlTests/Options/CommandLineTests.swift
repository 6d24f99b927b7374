import ArgumentParser
import Foundation
import Testing
import TestSupport

@testable import pumpctl

@Suite("Parsing of the command line")
struct CommandLineTests {
    @Test(
        "The words that name a command are found between options",
        arguments: [
            ("status", "status"), ("-p X --json status -v", "status"), ("--port=X rescue list --csv", "rescue list"),
            ("-p help status", "status"), ("led get led", "led get"), ("help led get", "led get"),
            ("speed nosuch", "speed"),
            ("", ""), ("--help", ""), ("--version", ""), ("help", ""), ("--frobnicate x status", ""),
            ("--generate-completion-script bash", ""), ("send -- x", "send"),
        ])
    func found(line: String, path: String) {
        let read = CommandLine(line.split(separator: " ").map(String.init))
        #expect(read.path.joined(separator: " ") == path)
        #expect(throws: Never.self) { try read.check() }
    }

    @Test(
        "An unknown command is refused with suggestions",
        arguments: [
            ("help nosuch", "unknown command 'nosuch' for 'pumpctl'", "choose one of: on, off"),
            ("nosuch --help", "unknown command 'nosuch' for 'pumpctl'", "choose one of: on, off"),
            ("ofn", "unknown command 'ofn' for 'pumpctl'", "try: pumpctl off, or pumpctl on"),
            ("onn", "unknown command 'onn' for 'pumpctl'", "try: pumpctl off, or pumpctl on"),
            ("statsu", "unknown command 'statsu' for 'pumpctl'", "try: pumpctl status"),
            ("toggle off", "unknown command 'toggle' for 'pumpctl'", "try: pumpctl led toggle, or pumpctl peer toggle"),
            ("help rescue lst", "unknown command 'lst' for 'pumpctl rescue'", "try: pumpctl rescue list"),
            ("led nosuch", "unknown command 'nosuch' for 'pumpctl led'", "choose one of: get, on, off, toggle"),
            ("sim /tmp/pump", "unknown command '/tmp/pump' for 'pumpctl sim'", "pumpctl sim pump --link /tmp/pump"),
            ("/dev/ttyUSB0 status", "unknown command '/dev/ttyUSB0'", "pumpctl --port /dev/ttyUSB0 status"),
        ])
    func strangers(line: String, message: String, hint: String) throws {
        let read = CommandLine(line.split(separator: " ").map(String.init))
        let failure = try #require(throws: Failure.self) { try read.check() }
        #expect(failure.status == .usage)
        #expect(failure.message.contains(message))
        #expect(failure.hint?.contains(hint) == true, "\(failure.hint ?? "")")
    }

    @Test(
        "Options before the command's name are passed to the command, before its own arguments",
        arguments: [
            ("-p X --json status -v", "-p=X --json -v"), ("--port=X rescue list --csv", "--port=X --csv"),
            ("-v storm --json log get -o x", "-v --json -o x"), ("-p help status", "-p=help"),
            // Combined short options.
            ("-vp X status", "-v -p=X"), ("-vf raw send A", "-v -f=raw A"), ("send -- -vp", "-- -vp"),
            ("rescue export -ox", "-ox"), ("send -o -", "-o -"), ("serve --vp", "--vp"),
            // Negative numbers.
            ("rescue send --at -35.9,-79 x", "--at=-35.9,-79 x"),
            ("monitor --interval -1 --json", "--interval=-1 --json"),
            ("--timeout -.5 status", "--timeout=-.5"), ("peer say -5", "-- -5"), ("peer say --json -5", "--json -- -5"),
            ("rescue send --at -1,-2 -5 -6", "--at=-1,-2 -- -5 -6"), ("peer say -- --at -5", "-- --at -5"),
            ("speed -5 --json", "-5 --json"), ("-p /dev/ttyUSB0 -v send TEMP", "-p=/dev/ttyUSB0 -v TEMP"),
            // Captured commands of pumpctl.
            ("-p X record file -- status -v", "-p=X --capture=file -v"), ("record file -- led get", "--capture=file"),
            ("record -v file -- -p X peer say Hi", "-v --capture=file -p=X Hi"), ("record file -- ls", "file -- ls"),
        ])
    func arguments(line: String, rest: String) {
        #expect(CommandLine(line.split(separator: " ").map(String.init)).arguments.joined(separator: " ") == rest)
    }

    @Test(
        "--help, --version and --generate-completion-script work at any place",
        arguments: [
            ("status --help", "USAGE: pumpctl status"), ("status --bogus -h", "USAGE: pumpctl status"),
            ("help storm log get", "USAGE: pumpctl storm log get"),
            ("-p X help led", "USAGE: pumpctl led <subcommand>"),
            ("sim pump --wait --help", "USAGE: pumpctl sim pump"),
            ("--help status", "OVERVIEW: Control bench devices"),
            ("rescue --help", "USAGE: pumpctl rescue <subcommand>"),
            ("status --version", PumpctlCommand.configuration.version),
            ("--version status", PumpctlCommand.configuration.version), ("status -vh", "USAGE: pumpctl status"),
            ("--generate-completion-script zsh status", "#compdef pumpctl\n"),
            ("--generate-completion-script=fish", "complete -c pumpctl -f"),
        ])
    func questions(line: String, answer: String) throws {
        let read = CommandLine(line.split(separator: " ").map(String.init))
        try read.check()
        let error = try #require(throws: (any Error).self) {
            var command = try read.parsed()
            try command.run()
        }
        #expect(PumpctlCommand.exitCode(for: error).isSuccess)
        #expect(PumpctlCommand.fullMessage(for: error).contains(answer))
    }

    @Test(
        "--version prints the text of the file VERSION",
        arguments: [Executable.pumpctl, Executable.pumpctld, Executable.pumpctl + "-page"])
    func version(program: String) async throws {
        let ending = try await ChildProcess([program, "--version"]).ending()
        #expect(try ending.output == MarkdownPage.text("VERSION"))
    }

    @Test("help exits with 64 for an unknown command, and prints the usage of a known one")
    func help() async throws {
        expectFailure(try await Pumpctl.run("help", "nosuch"), 64, saying: "nosuch", hint: "see pumpctl --help")
        #expect(try await Pumpctl.run("help", "led", "get").output.contains("USAGE: pumpctl led get"))
    }

    @Test(
        "Usage errors are JSON objects with --json",
        arguments: [
            ["status", "--frobnicate", "--json"], ["--json", "start"], ["--json", "speed", "-1"],
            ["--json", "monitor", "--count", "0"], ["--json", "-f", "toaster", "status"],
        ])
    func objects(arguments: [String]) async throws {
        let ending = try await Pumpctl.start(arguments).ending()
        #expect(ending.status == 64)
        let object = try ending.object()
        #expect(object["ok"] as? Bool == false)
        #expect(object["error"] as? String == "usage")
        #expect(object["exit_code"] as? Int == 64)
        #expect((object["message"] as? String)?.isEmpty == false)
        #expect((object["hint"] as? String)?.isEmpty == false)
    }

    @Test(
        "An invalid duration is refused with the valid range",
        arguments: [
            ["status", "--timeout", "0"], ["send", "X", "--quiet", "0"], ["on", "--for", "0s"],
            ["storm", "log", "get", "--quiet", "x"],
            ["storm", "log", "live", "--for", "0"], ["monitor", "--interval", "0"], ["monitor", "--for", "-1"],
            ["console", "--quiet", "0"], ["peer", "listen", "--for", "0"], ["scan", "--for", "0"],
            ["rescue", "listen", "--for", "0"], ["rescue", "sync", "--for", "0"],
        ])
    func times(arguments: [String]) throws {
        #expect(refusal(of: arguments).contains("a number above 0, in seconds or with one unit"))
    }
}
