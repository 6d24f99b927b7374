import LineProtocol
import Logging
import RecordFormat

/// The format of a message in the log, one line each.
///
/// Clients, devices and files contribute to messages. This type escapes their texts: no control characters reach a
/// terminal, and no text can imitate a line or a value of the daemon.
enum LogFormat: Sendable, Hashable {
    /// The format for the journal, which adds the time: `<6>link open device=pump`.
    case journal
    /// The format for a terminal or a file: `2026-11-20T17:04:05.678Z info link open device=pump`.
    case plain

    /// Formats a message as a line with its line end.
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

    /// Returns a key in which other characters than letters, digits, `-`, `_` and `.` are replaced by `_`.
    private static func key(_ key: String) -> String {
        String(key.map { $0.isASCII && ($0.isLetter || $0.isNumber || "-_.".contains($0)) ? $0 : "_" })
    }

    /// Returns a value, quoted if it is ambiguous otherwise, for example because of a space.
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
    /// The corresponding priority of syslog(3).
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
