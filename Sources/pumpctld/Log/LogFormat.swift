import LineProtocol
import Logging
import RecordFormat

/// How a message is written to the log, on one line.
///
/// Clients, devices and files have a part in what is logged. This is the only place that escapes it: no text reaches a terminal
/// with control characters, and none looks like a line or a value that the program did not write.
enum LogFormat: Sendable, Hashable {
    /// For the journal, which notes the time: `<6>link open device=pump`.
    case journal
    /// For a terminal or a file: `2026-11-20T17:04:05.678Z info link open device=pump`.
    case plain

    /// A line of the log, with its end.
    func line(
        _ level: Logger.Level, _ message: String, _ metadata: Logger.Metadata, at time: RecordTime = .now
    ) -> String {
        let start =
            switch self {
            case .journal: "<\(level.priority)>"
            case .plain: "\(time.iso8601) \(level) "
            }
        let values = metadata.sorted { $0.key < $1.key }.map { " \(Self.key($0.key))=\(Self.value("\($0.value)"))" }
        return start + message.printable() + values.joined() + "\n"
    }

    private static func key(_ key: String) -> String {
        String(key.map { $0.isASCII && ($0.isLetter || $0.isNumber || "-_.".contains($0)) ? $0 : "_" })
    }

    /// A value: in quotation marks where it could be taken for something else, as where it has spaces.
    private static func value(_ text: String) -> String {
        var escaped = ""
        for character in text.unicodeScalars {
            if character == "\\" || character == "\"" { escaped.unicodeScalars.append("\\") }
            escaped.unicodeScalars.append(character)
        }
        let printable = escaped.printable()
        let isPlain = !text.isEmpty && printable == text && !text.utf8.contains { " =".utf8.contains($0) }
        return isPlain ? text : "\"\(printable)\""
    }
}

extension Logger.Level {
    /// The priority that syslog(3) has for it.
    fileprivate var priority: Int {
        switch self {
        case .trace, .debug: 7
        case .info: 6
        case .notice: 5
        case .warning: 4
        case .error: 3
        case .critical: 2
        }
    }
}
