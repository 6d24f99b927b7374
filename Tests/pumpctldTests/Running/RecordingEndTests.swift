import DescriptorIO
import DeviceKit
import Glibc
import Logging
import TestSupport
import Testing

@testable import pumpctld

@Suite("The end of the record", .timeLimit(.minutes(5)))
struct RecordingEndTests {
    private let folder = TemporaryFolder()

    @Test("The records of all devices end at the same time, so that a slow disk delays the end only once")
    func concurrently() async throws {
        // Of the two programs that write the record, the first to reach its end waits for the other.
        let script = folder.write(
            """
            #!/bin/sh
            cat >/dev/null
            mkdir "$0.first" 2>/dev/null && exec cat "$0.gate"
            echo >"$0.gate"

            """, to: "record")
        try #require(chmod(script, 0o700) == 0 && mkfifo("\(script).gate", 0o600) == 0)
        let names = ["one", "two"]
        var listeners: [SocketListener] = []
        var text = "daemon.socket = \"\(folder.path("daemon"))\"\n"
        for name in names {
            listeners.append(try await SocketListener.listen(at: .unix(path: folder.path(name))))
            text += "[device.\(name)]\nendpoint = \"unix:\(folder.path(name))\"\nfamily = \"pump\"\nrecord = true\n"
        }
        let log = Watched(ReceivedText())
        let logger = Logger(label: "pumpctld") { _ in
            LineLogHandler(.journal, level: .info) { line in log.update { $0.bytes += Array(line.utf8) } }
        }
        let daemon = try Daemon(
            DaemonConfiguration(toml: text), on: .shared, log: logger, manager: nil,
            recorder: CompanionProgram(path: script))
        let run = Task(executorPreference: EventLoop.shared) { try await daemon.run() }
        for _ in names { try await log.text(upTo: "the link is open") }
        run.cancel()
        try await run.value
        let end = try await log.text(upTo: "<5>ended\n")
        #expect(!end.contains("is still writing"), "\(end)")
        for listener in listeners { await listener.close() }
    }
}
