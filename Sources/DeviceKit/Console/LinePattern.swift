/// The lines that a text with `*` describes: `ok|error:*` is the line `ok`, and each that begins with `error:`.
///
/// `|` separates alternatives, and `*` stands for any text, also for none. All else stands for itself, in upper and lower
/// case as written.
public struct LinePattern: Sendable, Hashable {
    /// The alternatives, each as the texts between its `*`.
    private let alternatives: [[String]]

    /// The lines that `text` describes; nil where an alternative is empty, which no line is.
    public init?(_ text: String) {
        alternatives = text.split(separator: "|", omittingEmptySubsequences: false).map {
            $0.split(separator: "*", omittingEmptySubsequences: false).map(String.init)
        }
        if alternatives.contains([""]) { return nil }
    }

    /// Whether `line`, without its end, is one of them.
    public func matches(_ line: String) -> Bool { alternatives.contains { Self.matches(line, $0) } }

    /// Whether a line is what a text describes whose `*` stand between these parts.
    static func matches(_ line: String, _ parts: [String]) -> Bool {
        guard let first = parts.first, let last = parts.last, line.hasPrefix(first) else { return false }
        guard parts.count > 1 else { return line == first }
        var rest = line.dropFirst(first.count)
        for part in parts.dropFirst().dropLast() where !part.isEmpty {
            guard let range = rest.firstRange(of: part) else { return false }
            rest = rest[range.upperBound...]
        }
        return rest.hasSuffix(last)
    }
}
