import ArgumentParser
import Testing

@testable import pumpctl

@Suite("Commands as they were spelt in earlier versions")
struct FormerCommandTests {
    @Test(
        "They are understood wherever they stand",
        arguments: [
            ("log get -o x", "storm log get -o x"),
            ("-p sim:storm --json log live", "-p sim:storm --json storm log live"),
            ("say Hello", "peer say Hello"), ("--port=X -v toggle on", "--port=X -v peer toggle on"),
            ("image get -o x", "peer image get -o x"), ("message send x", "rescue send x"),
            ("--timeout 2 message sync", "--timeout 2 rescue sync"), ("help log get", "help storm log get"),
        ])
    func rewriting(line: String, now: String) {
        let words = line.split(separator: " ").map(String.init)
        #expect(FormerCommands.rewritten(words).joined(separator: " ") == now)
    }

    @Test(
        "Words that only look like them are left alone",
        arguments: [
            "storm log get", "peer say log", "-p log status", "send log", "-- log", "status --port message",
            "--unknown log",
        ])
    func others(line: String) {
        let words = line.split(separator: " ").map(String.init)
        #expect(FormerCommands.rewritten(words) == words)
    }

    @Test("Help names none of them")
    func help() {
        let top = PumpctlCommand.configuration.subcommands.compactMap { $0.configuration.commandName }
        for row in FamilyRow.all { #expect(row.formerCommands.keys.allSatisfy { !top.contains($0) }) }
    }
}
