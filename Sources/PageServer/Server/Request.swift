internal import NIOHTTP1
internal import StrictJSON

/// The head of a request, with its target decoded.
struct Request {
    let head: HTTPRequestHead
    /// The segments of the path, decoded.
    let segments: [String]
    /// The parameters of the query, decoded.
    let query: [String: String]

    /// Decodes the target.
    ///
    /// - Throws: `bad_target` if the target is not a path, is not UTF-8, or has a segment that a file system would
    ///   treat specially; or if a parameter occurs twice.
    init(_ head: HTTPRequestHead) throws(Problem) {
        self.head = head
        let bad = Problem(.badRequest, "bad_target", "the target of the request is not a valid path")
        let parts = head.uri.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        guard let path = parts.first, path.first == "/" else { throw bad }
        var segments: [String] = []
        let rest = path.dropFirst()
        for segment in rest.isEmpty ? [] : rest.split(separator: "/", omittingEmptySubsequences: false) {
            guard let text = Self.decoded(segment, plusIsSpace: false), Self.isSegment(text) else { throw bad }
            segments.append(text)
        }
        self.segments = segments
        var query: [String: String] = [:]
        for pair in parts.dropFirst().first?.split(separator: "&") ?? [] {
            let sides = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = Self.decoded(sides[0], plusIsSpace: true),
                let value = Self.decoded(sides.count == 2 ? sides[1] : "", plusIsSpace: true),
                query.updateValue(value, forKey: name) == nil
            else { throw bad }
        }
        self.query = query
    }

    /// Whether a text may be a segment of a path. Bytes are compared, because `/` with a combining mark is another
    /// character.
    static func isSegment(_ text: String) -> Bool {
        !["", ".", ".."].contains(text)
            && !text.utf8.contains { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") || $0 < 0x20 || $0 == 0x7F }
    }

    /// Decodes percent-encoding; nil if it is malformed, not UTF-8, or contains control characters.
    private static func decoded(_ text: Substring, plusIsSpace: Bool) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst().flatMap(JSONGrammar.hexDigit),
                    let low = rest.popFirst().flatMap(JSONGrammar.hexDigit)
                else { return nil }
                bytes.append(UInt8(high << 4 | low))
            case UInt8(ascii: "+") where plusIsSpace: bytes.append(0x20)
            default: bytes.append(byte)
            }
        }
        guard !bytes.contains(where: { $0 < 0x20 || $0 == 0x7F }) else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }

    /// Rejects parameters of the query other than these.
    func checkQuery(_ names: String...) throws(Problem) { try checkQuery(names) }

    func checkQuery(_ names: [String]) throws(Problem) {
        guard let name = query.keys.filter({ !names.contains($0) }).min() else { return }
        throw .badRequest("this path has no parameter '\(name)'")
    }
}
