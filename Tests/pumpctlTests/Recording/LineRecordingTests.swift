import Foundation
import Glibc
import TestSupport
import Testing

@Suite("Recording of sent and received lines", .timeLimit(.minutes(5)))
struct LineRecordingTests {
    /// A command, and a sent and a received line that it must record. Nil means that no certain line is expected.
    struct Trial: Sendable, CustomTestStringConvertible {
        let words: [String]
        let sent: String?
        let received: String?
        var testDescription: String { words.joined(separator: " ") }

        init(_ words: String..., sent: String? = nil, received: String? = nil) {
            self.words = words
            self.sent = sent
            self.received = received
        }
    }

    private let home = TemporaryFolder()

    private func run(_ words: [String]) async throws -> ChildProcess.Ending {
        try await Pumpctl.start(words, environment: ["XDG_DATA_HOME": home.path]).ending()
    }

    /// The recorded events, such as `received OK`.
    private func recorded() async throws -> [String] {
        try await run(["history", "--events", "--json"]).objects().map {
            "\($0["event"] as? String ?? "") \($0["text"] as? String ?? "")"
        }
    }

    static let trials = [
        Trial("-p", "sim:peer", "peer", "say", "Grüße", sent: "Grüße"),
        Trial("-p", "sim:peer", "peer", "toggle", "on", sent: "ON"),
        Trial("-p", "sim:peer", "peer", "image", "get", "-o", "/dev/null", sent: "GET_IMAGE", received: "IMG_END"),
        Trial("-p", "sim:peer", "peer", "listen", "--count", "1", sent: "Hello"),
        Trial(
            "-p", "sim:storm?seed=7&rows=3&interval=1000s", "storm", "log", "get", sent: "GET_LOG",
            received: "LOG Values: 1 6 57 822.23"),
        Trial("-p", "sim:pump", "send", "TEMP", sent: "TEMP", received: "TEMP:{Water:12.0C,Skin:34.5C}"),
        Trial("-p", "sim:pump", "console", sent: "STATUS"),
        Trial("-p", "sim:rescue?messages=1", "rescue", "listen", "--count", "1"),
        Trial("-p", "sim:rescue", "rescue", "send", "--at", "1,2", "Help"),
        Trial("-p", "sim:rescue", "rescue", "sync", "--for", "10ms"),
    ]

    @Test("--record stores sent and received lines", arguments: trials)
    func kept(_ trial: Trial) async throws {
        // Standard input has a line, which only `console` reads.
        let words = ["--record"] + trial.words
        let program = try await Pumpctl.start(
            words, environment: ["XDG_DATA_HOME": home.path],
            program: ["/bin/sh", "-c", "echo STATUS | \"$0\" \"$@\"", Executable.pumpctl])
        let ending = try await program.ending()
        #expect(ending.status == 0, "\(ending)")
        let events = try await recorded()
        if let sent = trial.sent { #expect(events.contains("sent \(sent)"), "\(events)") }
        if let received = trial.received { #expect(events.contains("received \(received)"), "\(events)") }
        let session = try await run(["history", "--sessions", "--json"]).object()
        #expect(session["ending"] as? String == "closed")
        #expect(session["errors"] as? Int == 0)
        #expect(session["endpoint"] as? String == trial.words[1])
    }

    @Test("A record is synced to disk, in folders of mode 0700")
    func kept() async throws {
        let calls = home.path("calls")
        let ending = try await Pumpctl.start(
            ["--record", "-p", "sim:led", "led", "on"],
            environment: [
                "XDG_DATA_HOME": home.path("data"), "LD_PRELOAD": Executable.syncCounter, "SYNC_COUNTER": calls,
            ]
        ).ending()
        #expect(ending.status == 0, "\(ending)")
        let synced = try String(contentsOfFile: calls, encoding: .utf8).split(separator: "\n")
        #expect(synced.contains { $0 == "sync \(home.path("data/pumpctl/record.sqlite-wal"))" }, "\(synced)")
        for folder in ["data", "data/pumpctl"] {
            var status = stat()
            #expect(stat(home.path(folder), &status) == 0)
            #expect(status.st_mode & 0o777 == 0o700, "\(folder)")
        }
    }

    @Test("Errors are recorded")
    func failed() async throws {
        _ = try await run(["--record", "-p", "sim:pump", "send", "NONSENSE"])
        #expect(try await recorded().contains("received ERROR:UNKNOWN_COMMAND"))
        #expect(try await run(["history", "--sessions", "--json"]).object()["ending"] as? String == "refused")
    }

    @Test(
        "A command that ends at its time limit is recorded as closed",
        arguments: [
            ["-p", "sim:pump", "monitor", "--record"], ["-p", "sim:storm", "storm", "log", "live", "--record"],
            ["-p", "sim:peer", "peer", "listen", "--record"],
            ["-p", "sim:rescue?messages=0", "rescue", "listen", "--record"],
        ])
    func timeIsOver(words: [String]) async throws {
        #expect(try await run(words + ["--for", "10ms"]).status == 0)
        #expect(try await run(["history", "--sessions", "--json"]).object()["ending"] as? String == "closed")
    }
}
