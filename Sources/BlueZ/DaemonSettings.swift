/// What bluetoothd is set up to by `/etc/bluetooth/main.conf`.
///
///     DaemonSettings("[GATT]\nChannels = 1\n")["GATT", "Channels"] == "1"    // true
public struct DaemonSettings: Sendable, Hashable {
    private var groups: [String: [String: String]] = [:]

    /// - Parameter text: The contents of the file; empty where there is none. Lines that begin with `#` are comments.
    public init(_ text: String) {
        var group = ""
        for line in text.split(whereSeparator: \.isNewline) {
            let line = line.trimmed
            if line.hasPrefix("["), line.hasSuffix("]") {
                group = String(line.dropFirst().dropLast())
            } else if let equals = line.firstIndex(of: "="), !line.hasPrefix("#") {
                groups[group, default: [:]][String(line[..<equals].trimmed)] =
                    String(line[line.index(after: equals)...].trimmed)
            }
        }
    }

    /// What a key of a group is set to, without the white space around it; nil where it is not set. The last one counts.
    public subscript(group: String, key: String) -> String? { groups[group]?[key] }
}

extension Substring {
    fileprivate var trimmed: Substring {
        guard let first = firstIndex(where: { !$0.isWhitespace }), let last = lastIndex(where: { !$0.isWhitespace })
        else { return "" }
        return self[first...last]
    }
}
