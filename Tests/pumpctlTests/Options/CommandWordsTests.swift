import ArgumentParser
import Foundation
import Testing
import TestSupport

@testable import pumpctl

@Suite("The words that name a command")
struct CommandWordsTests {
    @Test(
        "are found between options",
        arguments: [
            ("status", "status"), ("-p X --json status -v", "status"), ("--port=X rescue list --csv", "rescue list"),
            ("-p help status", "status"), ("led get led", "led get"), ("help led get", "led get"),
            ("speed nosuch", "speed"),
            ("", ""), ("--help", ""), ("--version", ""), ("help", ""), ("--frobnicate x status", ""),
            ("--generate-completion-script bash", ""), ("send -- x", "send"),
        ])
    func found(line: String, path: String) {
        let words = CommandWords(line.split(separator: " ").map(String.init))
        #expect(words.path.joined(separator: " ") == path)
        #expect(words.failure == nil)
    }

    @Test(
        "that name none are told, with what was probably meant",
        arguments: [
            ("help nosuch", "unknown command 'nosuch' for 'pumpctl'", "choose one of: on, off"),
            ("nosuch --help", "unknown command 'nosuch' for 'pumpctl'", "choose one of: on, off"),
            ("statsu", "unknown command 'statsu' for 'pumpctl'", "try: pumpctl status"),
            ("help rescue lst", "unknown command 'lst' for 'pumpctl rescue'", "try: pumpctl rescue list"),
            ("led nosuch", "unknown command 'nosuch' for 'pumpctl led'", "choose one of: get, on, off, toggle"),
            ("sim /tmp/pump", "unknown command '/tmp/pump' for 'pumpctl sim'", "pumpctl sim pump --link /tmp/pump"),
            ("/dev/ttyUSB0 status", "unknown command '/dev/ttyUSB0'", "pumpctl --port /dev/ttyUSB0 status"),
        ])
    func strangers(line: String, message: String, hint: String) throws {
        let failure = try #require(CommandWords(line.split(separator: " ").map(String.init)).failure)
        #expect(failure.status == .usage)
        #expect(failure.message.contains(message))
        #expect(failure.hint?.contains(hint) == true, "\(failure.hint ?? "")")
    }

    @Test("help for what is no command exits with 64, and help for what is one with 0")
    func help() async throws {
        expectFailure(try await Pumpctl.run("help", "nosuch"), 64, saying: "nosuch", hint: "see pumpctl --help")
        #expect(try await Pumpctl.run("help", "led", "get").output.contains("USAGE: pumpctl led get"))
    }

    @Test(
        "A wrong command line is told to programs as an object",
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
        "A time that is none is refused with what a time may be",
        arguments: [
            ["status", "--timeout", "0"], ["send", "X", "--quiet", "0"], ["on", "--for", "0s"],
            ["storm", "log", "get", "--quiet", "x"],
            ["storm", "log", "live", "--for", "0"], ["monitor", "--interval", "0"], ["monitor", "--for", "-1"],
            ["console", "--quiet", "0"], ["peer", "listen", "--for", "0"], ["scan", "--for", "0"],
            ["rescue", "listen", "--for", "0"], ["rescue", "sync", "--for", "0"], ["sim", "peer", "--interval", "0"],
        ])
    func times(arguments: [String]) throws {
        let words = arguments.map { $0.hasPrefix("-") && $0.dropFirst().first?.isNumber == true ? "=\($0)" : $0 }
        let joined = words.joined(separator: " ").replacing(" =", with: "=").split(separator: " ").map(String.init)
        let error = try #require(throws: (any Error).self) { try PumpctlCommand.parseAsRoot(joined) }
        #expect(PumpctlCommand.message(for: error).contains("a time above 0, up to 1000000 s"))
    }
}
