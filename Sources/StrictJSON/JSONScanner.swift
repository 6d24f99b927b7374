/// Finds the values directly inside a valid array or object. In an object, names and values take turns.
struct JSONScanner: Sequence, IteratorProtocol {
    private let bytes: ArraySlice<UInt8>
    private var index: Int
    /// The index of the bracket or brace that ends the container.
    private let end: Int

    init(inside container: JSONValue) {
        bytes = container.bytes
        (index, end) = (bytes.startIndex + 1, bytes.endIndex - 1)
    }

    mutating func next() -> JSONValue? {
        // Before a value there are blanks, and a comma or a colon.
        while index < end,
            bytes[index].isJSONBlank || bytes[index] == UInt8(ascii: ",") || bytes[index] == UInt8(ascii: ":")
        {
            index += 1
        }
        guard index < end else { return nil }
        let start = index
        skipValue()
        return JSONValue(valid: bytes[start..<index])
    }

    /// Returns the next member of an object; nil at its end.
    mutating func nextMember() -> JSONMember? {
        guard let name = next(), let value = next() else { return nil }
        return JSONMember(nameValue: name, value: value)
    }

    private mutating func skipValue() {
        var depth = 0
        repeat {
            switch bytes[index] {
            case UInt8(ascii: "\""):
                index += 1
                while true {
                    index = bytes.startIndex + bytes.span.endOfPlainText(from: index - bytes.startIndex)
                    if bytes[index] == UInt8(ascii: "\"") { break }
                    // A backslash escapes the byte after it.
                    index += 2
                }
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            case _ where depth == 0:
                // A number, or one of the three words.
                while index < end, !bytes[index].isJSONBlank, bytes[index] != UInt8(ascii: ",") { index += 1 }
                return
            default: break
            }
            index += 1
        } while depth > 0
    }
}
