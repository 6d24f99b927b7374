/// The members of a reading's JSON, one by one.
///
///     for member in ReadingMembers(#"{"state":"on","skin_temp_c":34.5}"#.utf8) { print(member.name, member.json) }
public struct ReadingMembers: Sequence, IteratorProtocol {
    /// A name and its value.
    public struct Member {
        /// The name as it is written, escapes and all, without its quotes.
        public var name: ArraySlice<UInt8>
        /// The value, a piece of JSON.
        public var json: ArraySlice<UInt8>
    }

    private let bytes: [UInt8]
    private var position = 0

    /// The members of a JSON object. Where the text is none, what is behind the fault is left out.
    public init(_ json: some Sequence<UInt8>) { bytes = Array(json) }

    public mutating func next() -> Member? {
        // Before a name stands the brace, or a comma.
        guard let quote = bytes[position...].firstIndex(of: UInt8(ascii: "\"")) else { return nil }
        let nameEnd = endOfString(from: quote)
        guard nameEnd > quote + 1, let colon = bytes[nameEnd...].firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let valueEnd = endOfValue(from: colon + 1)
        position = valueEnd
        return Member(name: bytes[(quote + 1)..<(nameEnd - 1)], json: bytes[(colon + 1)..<valueEnd])
    }

    /// Behind the string that begins there.
    private func endOfString(from quote: Int) -> Int {
        var index = quote + 1
        while index < bytes.count, bytes[index] != UInt8(ascii: "\"") {
            index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
        }
        return Swift.min(index + 1, bytes.count)
    }

    /// Behind the value that begins there: its comma or brace.
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
