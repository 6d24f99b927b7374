import Foundation
import StrictJSON
import Testing
import TestSupport

@testable import Sharing

@Suite("The page docs/daemon.md", .timeLimit(.minutes(5)))
struct DaemonPageTests {
    private static func text(_ path: String) throws -> String {
        try String(contentsOf: JSONSchema.repository.appending(path: path), encoding: .utf8)
    }

    /// The contents of the page's code blocks in the language `kind`.
    private static func blocks(_ kind: String) throws -> [String] {
        try text("docs/daemon.md").components(separatedBy: "```\(kind)\n").dropFirst()
            .map { $0.components(separatedBy: "```")[0] }
    }

    @Test("The page shows the example program, and messages that fit the schema")
    func shows() throws {
        #expect(try Self.blocks("python") == [Self.text("Examples/daemon_client.py")])
        let lines = try Self.blocks("json").flatMap { $0.split(separator: "\n") }
        #expect(lines.count > 5)
        for line in lines {
            let value = try JSONValue(parsing: String(line))
            let isKnown = JSONSchema.pumpctld.fits(value, "request") || JSONSchema.pumpctld.fits(value, "message")
            #expect(isKnown, "\(line)")
        }
    }

    @Test("The page lists every error code, request and event")
    func names() throws {
        let page = try Self.text("docs/daemon.md")
        let schema = try JSONValue(parsing: Self.text("packaging/schema/pumpctld.schema.json"))
        let codes = schema["$defs"]?["error"]?["properties"]?["code"]?["enum"]?.elements ?? []
        #expect(codes.count > 10)
        let verbs: [JSONValue] = [
            "devices", "describe", "command", "stop", "send", "state", "history", "messages", "ports", "scan",
            "findings", "simulator", "simulate", "subscribe", "unsubscribe", "transfer", "cancel", "attach", "progress",
            "piece",
        ]
        for word in codes + verbs + DeviceWatch.Kind.allCases.map({ .text($0.rawValue) }) {
            #expect(page.contains("| `\(word.string)`") || page.contains(", `\(word.string)` |"), "\(word.string)")
        }
    }

    @Test("The example program on the page prints status, state, events and link changes")
    func example() async throws {
        try await ControlRig.run { rig in
            let program = try await ChildProcess([
                "python3", JSONSchema.repository.appending(path: "Examples/daemon_client.py").path, rig.path, "pump",
            ])
            #expect(try await program.output.line().hasPrefix("hello {"))
            #expect(try await program.output.line().hasPrefix("STATUS:{State:OFF"))
            #expect(try await program.output.line().hasPrefix("state {"))
            await rig.pressButton()
            #expect(try await program.output.line() == #"said {"line": "MANUAL:ON"}"#)
            #expect(try await program.output.line().contains(#""state": "on""#))
            await rig.unplug()
            #expect(try await program.output.line() == #"link {"link": "lost"}"#)
            await rig.server.close()
            let ending = try await program.ending()
            #expect(ending.status == 1 && ending.errors == "pumpctld has closed the connection\n", "\(ending)")

            let stranger = try await ChildProcess([
                "python3", JSONSchema.repository.appending(path: "Examples/daemon_client.py").path, rig.path,
            ]).ending()
            #expect(stranger.status == 1)
        }
    }
}
