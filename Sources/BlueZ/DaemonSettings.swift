/// The settings of bluetoothd in `/etc/bluetooth/main.conf`.
///
///     DaemonSettings("[GATT]\nChannels = 1\n")["GATT", "Channels"] == "1"    // true
public struct DaemonSettings: Sendable, Hashable {
    private var groups: [String: [String: String]] = [:]

    /// Parses the settings. Lines that begin with `#` are comments.
    ///
    /// - Parameter text: The contents of the file; empty if there is no file.
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

    /// The value of a key in a group, without the white space around it; nil if the key is not set. If a key is set
    /// twice, the last value counts.
    public subscript(group: String, key: String) -> String? { groups[group]?[key] }
}

extension Substring {
    fileprivate var trimmed: Substring {
        guard let first = firstIndex(where: { !$0.isWhitespace }), let last = lastIndex(where: { !$0.isWhitespace })
        else { return "" }
        return self[first...last]
    }
}
