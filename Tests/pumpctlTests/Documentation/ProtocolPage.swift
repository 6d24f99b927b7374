import FirmwareSim
import Testing

/// docs/protocols.md, with the parts that tests need.
struct ProtocolPage {
    let page: MarkdownPage

    init() throws { page = try MarkdownPage("docs/protocols.md") }

    /// The rows of the first table below `heading` that has the column `column`, by the names of their columns. Throws
    /// if there are none.
    func rows(below heading: String, of column: String) throws -> [[String: String]] {
        let rows = page.rows(below: heading, of: column)
        try #require(!rows.isEmpty, "\(heading): \(column)")
        return rows
    }

    /// The code spans in the column `column` of the first table below `heading` that has it, row by row.
    func spans(below heading: String, of column: String) throws -> [[String]] {
        try rows(below: heading, of: column).map { ($0[column] ?? "").spans }
    }

    /// The text of the rule with the anchor `name`: its list item.
    func rule(_ name: String) throws -> String {
        let text = page.prose.drop { !$0.contains("<a id=\"\(name)\">") }
        let rest = text.dropFirst().prefix { $0.hasPrefix("  ") }.map { $0.dropFirst(2) }
        return try ([Substring(#require(text.first))] + rest).joined(separator: " ")
    }
}

extension String {
    /// The code spans of a cell or a line.
    var spans: [String] { matches(of: /`([^`]+)`/).map { String($0.1) } }

    /// A Boolean value that indicates whether a text matches this pattern of the page, in which `<word>` and `…` match
    /// any text.
    func fits(_ text: String) -> Bool {
        let parts = split(separator: /<\w+>|…/, omittingEmptySubsequences: false)
        guard let first = parts.first, let last = parts.last, text.hasPrefix(first) else { return false }
        if parts.count == 1 { return text == self }
        var rest = text.dropFirst(first.count)
        for part in parts.dropFirst().dropLast() {
            guard let range = rest.firstRange(of: part) else { return false }
            rest = rest[range.upperBound...]
        }
        return rest.hasSuffix(last)
    }
}

extension SimulatedDevice {
    /// The lines that the device has sent until `instant`, without those returned before.
    mutating func lines(until instant: Duration) -> [String] {
        String(decoding: advance(to: instant).flatMap(\.bytes), as: UTF8.self).split(whereSeparator: \.isNewline)
            .map(String.init)
    }

    /// Sends `line` with a line end; returns the lines that the device sends within the next two seconds.
    mutating func answer(to line: String, at instant: Duration) -> [String] {
        _ = advance(to: instant)
        receive(Array((line + "\n").utf8), at: instant)
        return lines(until: instant + .seconds(2))
    }
}
