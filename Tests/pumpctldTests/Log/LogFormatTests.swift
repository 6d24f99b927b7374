import DeviceKit
import Glibc
import LineProtocol
import Logging
import RecordFormat
import Sharing
import TestSupport
import Testing

@testable import pumpctld

@Suite("Log lines of pumpctld")
struct LogFormatTests {
    @Test("A log line begins with the time, or with the priority for the journal")
    func start() {
        let time = RecordTime(milliseconds: 1_000_000_000_123)
        #expect(
            LogFormat.plain.line(.info, "open", ["b": "2", "a": "1"], at: time)
                == "2001-09-09T01:46:40.123Z info open a=1 b=2\n")
        let levels: [(Logger.Level, Int)] = [
            (.trace, 7), (.debug, 7), (.info, 6), (.notice, 5), (.warning, 4), (.error, 3), (.critical, 2),
        ]
        for (level, priority) in levels { #expect(LogFormat.journal.line(level, "x", [:]) == "<\(priority)>x\n") }
    }

    @Test(
        "An ambiguous value is quoted and escaped",
        arguments: [
            ("/dev/ttyUSB0", "/dev/ttyUSB0"), ("", "\"\""), ("a b", "\"a b\""), ("x=1", "\"x=1\""),
            ("a\" evil=\"1", "\"a\\\" evil=\\\"1\""), ("\\", "\"\\\\\""), ("\u{1B}[31m", "\"\\x1b[31m\""),
            ("a\n<0>b", "\"a\\x0a<0>b\""), ("\\x1b", "\"\\\\x1b\""), ("a\u{2028}b\u{202E}", "\"a\\u{2028}b\\u{202e}\""),
        ])
    func values(value: String, written: String) {
        #expect(LogFormat.journal.line(.info, "x", ["v": .string(value)]) == "<6>x v=\(written)\n")
    }

    @Test("A lost record is logged with the number of lost records")
    func lostRecord() {
        let entry = LogEntry(LinkOpening.Report.recording(.begun(.lost(1))), of: "/dev/ttyUSB0", device: "pump")
        #expect(entry.message == "the record is incomplete" && entry.metadata["lost"] == "1")
    }

    @Test("An error message that quotes a very long client line is shortened in the log")
    func length() {
        for line in [
            [UInt8](repeating: 0x41, count: 60_000), Array(("A" + String(repeating: "\u{301}", count: 30_000)).utf8),
        ] {
            let quoted = String(decoding: line, as: UTF8.self)
            let entry = LogEntry(
                SharingReport(device: "pump", .failed(line, for: "pty", "the device refused \(quoted)")), of: .pump)
            #expect(LogFormat.plain.line(.info, entry.message, entry.metadata).utf8.count < 4000)
        }
    }

    @Test("Log lines contain no control characters", arguments: [LogFormat.plain, .journal])
    func escaping(format: LogFormat) {
        for byte in UInt8.min...UInt8.max {
            for bytes in [[byte], [0x41, byte, 0x0A], [byte, 0x9B, 0x41], [0xC2, byte]] {
                let reports: [SharingReport.Event] = [
                    .sends(bytes, for: String(decoding: bytes, as: UTF8.self)), .notSent(bytes, by: "x", "y"),
                    .failed(bytes, for: "x", String(decoding: bytes, as: UTF8.self)),
                    .up(String(decoding: bytes, as: UTF8.self)),
                ]
                for report in reports {
                    let entry = LogEntry(SharingReport(device: "pump", report), of: .pump)
                    let line = format.line(entry.level, entry.message, entry.metadata)
                    let text = line.unicodeScalars.dropLast()
                    #expect(line.utf8.last == 0x0A)
                    #expect(!text.contains { $0.value < 0x20 || 0x7F..<0xA0 ~= $0.value }, "\(line.debugDescription)")
                }
            }
        }
    }

    @Test("A very long client line is shortened in the log")
    func longLine() {
        let line = [UInt8](repeating: 0x41, count: 60_000)
        let entry = LogEntry(SharingReport(device: "pump", .sends(line, for: "x")), of: .pump)
        #expect(LogFormat.plain.line(entry.level, entry.message, entry.metadata).utf8.count < 400)
    }

    @Test("Commands are logged at info, queries at debug")
    func commands() {
        func level(_ line: String, _ family: Family = .pump) -> Logger.Level {
            LogEntry(SharingReport(device: "pump", .sends(Array(line.utf8), for: "x")), of: family).level
        }
        #expect(level("STATUS") == .debug)
        #expect(level("temp") == .debug)
        for command in ["ON", "OFF", "SPEED: 7", "FOO", "STATUS;ON", "STATU", "STATUS "] {
            #expect(level(command) == .info)
        }
        let entry = LogEntry(SharingReport(device: "p", .sends(Array("ON".utf8), for: "10.0.0.7:5")), of: .pump)
        #expect(entry.metadata == ["device": "p", "client": "10.0.0.7:5", "line": "ON"])
    }

    @Test("Only a query that is sent for a client counts as a question, not a change or a failed query")
    func questions() {
        func isQuestion(_ event: SharingReport.Event) -> Bool {
            SharingReport(device: "p", event).isQuestion(to: .pump)
        }
        #expect(isQuestion(.sends(Array("Status".utf8), for: "x")))
        #expect(!isQuestion(.sends(Array("ON".utf8), for: "x")))
        #expect(!isQuestion(.failed(Array("STATUS".utf8), for: "x", "no answer")))
    }

    @Test("Standard error is the journal only if JOURNAL_STREAM names that stream")
    func journal() throws {
        var ends: [CInt] = [-1, -1]
        try #require(socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0, &ends) == 0)
        defer { for end in ends { close(end) } }
        var status = stat()
        fstat(ends[0], &status)
        let name = "\(status.st_dev):\(status.st_ino)"
        #expect(JournalStream.isOpen(at: ends[0], named: name))
        #expect(!JournalStream.isOpen(at: ends[1], named: name))
        for other in [nil, "", name + ":", "\(status.st_dev)", ":\(status.st_ino)", "\(status.st_dev):x"] {
            #expect(!JournalStream.isOpen(at: ends[0], named: other))
        }
    }

    @Test("Only messages of swift-log with at least the requested level are written")
    func handler() {
        let lines = Watched<[String]>([])
        var log = Logger(label: "x") { _ in
            LineLogHandler(.journal, level: .info) { line in lines.update { $0.append(line) } }
        }
        log[metadataKey: "device"] = "pump"
        log.debug("no")
        log.warning("a\u{1B}b", metadata: ["client": "c d"])
        #expect(lines.state == ["<4>a\\x1bb client=\"c d\" device=pump\n"])
    }
}

@Suite("Log output")
struct LogOutputTests {
    /// Blocks the log's writing, like a full pipe that nobody reads, until ``open()`` is called.
    private final class Gate: Sendable {
        private let ends: (outlet: CInt, inlet: CInt)

        init() throws {
            var ends: [CInt] = [-1, -1]
            try #require(socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0)
            self.ends = (ends[0], ends[1])
        }

        deinit {
            close(ends.outlet)
            close(ends.inlet)
        }

        /// Blocks the calling thread until the gate is open.
        func wait() {
            var byte: UInt8 = 0
            _ = read(ends.outlet, &byte, 1)
        }

        /// Ends the current and all later calls of ``wait()``.
        func open() { shutdown(ends.inlet, CInt(SHUT_WR)) }
    }

    @Test("A write to a stalled log returns at once, and lost lines are counted", .timeLimit(.minutes(5)))
    func stalled() async throws {
        let gate = try Gate()
        let lines = Watched<[String]>([])
        let output = LogOutput(limit: 10) {
            "lost \($0)"
        } put: { line in
            gate.wait()
            lines.update { $0.append(line) }
        }
        // The limit of 10 bytes has room for two lines of 5 bytes.
        for number in 0..<9 { output.write("line\(number)") }
        #expect(lines.state.isEmpty)
        gate.open()
        await output.flush()
        #expect(lines.state == ["line0", "line1", "lost 7"])
        output.write("again")
        await output.flush()
        #expect(lines.state.last == "again")
    }

    @Test("Waiting for a stalled log can be cancelled", .timeLimit(.minutes(5)))
    func givenUp() async throws {
        let gate = try Gate()
        let output = LogOutput {
            "\($0)"
        } put: { _ in
            gate.wait()
        }
        output.write("x")
        let flush = Task { await output.flush() }
        flush.cancel()
        await flush.value
        gate.open()
    }
}
