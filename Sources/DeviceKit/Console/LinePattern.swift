/// A pattern for lines: `ok|error:*` matches the line `ok`, and each line that begins with `error:`.
///
/// `|` separates alternatives. `*` matches any text, including none. All other characters match themselves, with case.
public struct LinePattern: Sendable, Hashable {
    /// The alternatives, each split at its `*`.
    private let alternatives: [[String]]

    /// Creates a pattern from its text. Returns nil if an alternative is empty: ``DeviceLines`` leaves empty lines out.
    public init?(_ text: String) {
        alternatives = text.split(separator: "|", omittingEmptySubsequences: false).map {
            $0.split(separator: "*", omittingEmptySubsequences: false).map(String.init)
        }
        if alternatives.contains([""]) { return nil }
    }

    /// Whether the pattern matches `line`, which has no line end.
    public func matches(_ line: String) -> Bool { alternatives.contains { Self.matches(line, $0) } }

    /// Whether a line matches one alternative, given as the texts between its `*`.
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
