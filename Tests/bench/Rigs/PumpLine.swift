import LineProtocol
import TestSupport
import Transports

/// The pump's line as bytes out and lines in, with nothing between that knows the protocol.
final class PumpLine: Sendable {
    private struct Heard: Sendable, CustomStringConvertible {
        var framer = LineFramer(limit: 1024)
        var lines: [String] = []
        var description: String { "\(lines)" }
    }

    private let link: any Link
    private let heard = Watched(Heard())

    /// Opens the line, and forgets what the pump said before.
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

    /// The next line.
    func next(_ what: String = "a line") async throws -> String {
        try await heard.wait(for: what) { $0.lines.isEmpty ? nil : $0.lines.removeFirst() }
    }

    /// The next line that is no status report of a running pump.
    func nextButReports(_ what: String = "a line") async throws -> String {
        while true {
            let line = try await next(what)
            if !line.isReport { return line }
        }
    }

    /// Sends `bytes`, and returns all that the pump says until it has dealt with them.
    ///
    /// - Parameter temperatures: How often `bytes` ask for the temperatures. The end is known by one more answer to TEMP,
    ///   which is never said unasked.
    func exchange(_ text: String, temperatures: Int = 0) async throws -> [String] {
        try await exchange(Array(text.utf8), temperatures: temperatures)
    }

    func exchange(_ bytes: [UInt8], temperatures: Int = 0) async throws -> [String] {
        try await link.send(bytes + Array("TEMP\n".utf8))
        return try await linesBeforeTemperature(number: temperatures + 1)
    }

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
    /// Whether this may have been said unasked, as it is every 5 s.
    var isReport: Bool { hasPrefix("STATUS:{State:ON,") }
}

extension [String] {
    /// Without the status reports of a running pump.
    var withoutReports: [String] { filter { !$0.isReport } }
}
