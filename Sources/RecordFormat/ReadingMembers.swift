/// A sequence of the members of a reading's JSON object.
///
///     for member in ReadingMembers(#"{"state":"on","skin_temp_c":34.5}"#.utf8) { print(member.name, member.json) }
public struct ReadingMembers: Sequence, IteratorProtocol {
    /// A name and its value.
    public struct Member {
        /// The name as written, with escapes and without its quotes.
        public var name: ArraySlice<UInt8>
        /// The value as JSON.
        public var json: ArraySlice<UInt8>
    }

    private let bytes: [UInt8]
    private var position = 0

    /// Creates a sequence from the bytes of a JSON object. In malformed JSON, the sequence ends at the error.
    public init(_ json: some Sequence<UInt8>) { bytes = Array(json) }

    public mutating func next() -> Member? {
        // Before a name there is a brace or a comma.
        guard let quote = bytes[position...].firstIndex(of: UInt8(ascii: "\"")) else { return nil }
        let nameEnd = endOfString(from: quote)
        guard nameEnd > quote + 1, let colon = bytes[nameEnd...].firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let valueEnd = endOfValue(from: colon + 1)
        position = valueEnd
        return Member(name: bytes[(quote + 1)..<(nameEnd - 1)], json: bytes[(colon + 1)..<valueEnd])
    }

    /// The index after the string that begins at `quote`.
    private func endOfString(from quote: Int) -> Int {
        var index = quote + 1
        while index < bytes.count, bytes[index] != UInt8(ascii: "\"") {
            index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
        }
        return Swift.min(index + 1, bytes.count)
    }

    /// The index after the value that begins at `start`: that of its comma or brace.
    private func endOfValue(from start: Int) -> Int {
        var (index, depth) = (start, 0)
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "\""):
                index = endOfString(from: index)
                continue
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                if depth == 0 { return index }
                depth -= 1
            case UInt8(ascii: ","): if depth == 0 { return index }
            default: break
            }
            index += 1
        }
        return index
    }
}
