import LineProtocol
import TestSupport
import Transports

/// A link to a pump for tests that send bytes and read lines themselves, without a `PumpSession`.
final class PumpLine: Sendable {
    private struct Heard: Sendable, CustomStringConvertible {
        var framer = LineFramer(limit: 1024)
        var lines: [String] = []
        var description: String { "\(lines)" }
    }

    private let link: any Link
    private let heard = Watched(Heard())

    /// Opens a link, and discards the output that the pump sends before its reply to a first TEMP.
    static func open(_ rig: any PumpRig) async throws -> PumpLine {
        let line = PumpLine(try await rig.link())
        await line.listen()
        _ = try await line.exchange("")
        return line
    }

    private init(_ link: any Link) { self.link = link }

    private func listen() async {
        await link.forward { [heard] arrival in
            guard case .bytes(let bytes) = arrival else { return }
            heard.update { heard in
                var lines: [String] = []
                heard.framer.append(bytes.span) { line, _ in
                    lines.append(line.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) })
                }
                heard.lines += lines
            }
        }
    }

    func close() async { await link.close() }

    func send(_ text: String) async throws { try await link.send(Array(text.utf8)) }

    /// Waits for the next line.
    ///
    /// - Parameter what: The expected line in words, for the failure after a time-out.
    func next(_ what: String = "a line") async throws -> String {
        try await heard.wait(for: what) { $0.lines.isEmpty ? nil : $0.lines.removeFirst() }
    }

    /// Waits for the next line that is not a status report of a running pump.
    func nextButReports(_ what: String = "a line") async throws -> String {
        while true {
            let line = try await next(what)
            if !line.isReport { return line }
        }
    }

    /// Sends `text`, and returns all lines that the pump sends until it has handled `text`.
    ///
    /// An added TEMP command marks the end, because its reply is never unsolicited. That reply is not returned.
    ///
    /// - Parameter temperatures: The number of TEMP commands in `text`. Their replies are returned.
    func exchange(_ text: String, temperatures: Int = 0) async throws -> [String] {
        try await exchange(Array(text.utf8), temperatures: temperatures)
    }

    func exchange(_ bytes: [UInt8], temperatures: Int = 0) async throws -> [String] {
        try await link.send(bytes + Array("TEMP\n".utf8))
        return try await linesBeforeTemperature(number: temperatures + 1)
    }

    /// Waits for this many replies to TEMP; returns the lines before the last one.
    private func linesBeforeTemperature(number: Int) async throws -> [String] {
        try await heard.wait(for: "the end of the answers") { heard in
            let ends = heard.lines.indices.filter { heard.lines[$0].hasPrefix("TEMP:") }
            guard ends.count >= number else { return nil }
            let end = ends[number - 1]
            defer { heard.lines.removeSubrange(...end) }
            return Array(heard.lines[..<end])
        }
    }
}

extension String {
    /// Whether the line may be the unsolicited status that a running pump sends every 5 s. A reply to STATUS looks the
    /// same.
    var isReport: Bool { hasPrefix("STATUS:{State:ON,") }
}

extension [String] {
    /// The lines without the unsolicited status lines of a running pump. Replies to STATUS are removed as well.
    var withoutReports: [String] { filter { !$0.isReport } }
}
