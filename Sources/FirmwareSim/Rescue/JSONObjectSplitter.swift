/// Splits a stream of bytes into JSON objects by their braces, without parsing anything else.
struct JSONObjectSplitter: Sendable {
    /// The longest accepted object, in bytes: as much as pumpctl accepts (rule rescue-3). A longer object is dropped up
    /// to the byte after this length; the bytes after that byte are searched for the next object.
    static let capacity = 16 * 1024

    private var object: [UInt8] = []
    private var depth = 0
    private var isWithinString = false
    private var isEscaped = false

    /// Whether no object has begun.
    var isEmpty: Bool { object.isEmpty }

    /// Takes in one byte. Returns the object that the byte ends, if any.
    mutating func append(_ byte: UInt8) -> [UInt8]? {
        guard depth > 0 || byte == UInt8(ascii: "{") else { return nil }
        guard object.count < Self.capacity else {
            self = JSONObjectSplitter()
            return nil
        }
        object.append(byte)
        switch byte {
        case _ where isEscaped: isEscaped = false
        case UInt8(ascii: "\\") where isWithinString: isEscaped = true
        case UInt8(ascii: "\""): isWithinString.toggle()
        case UInt8(ascii: "{") where !isWithinString: depth += 1
        case UInt8(ascii: "}") where !isWithinString: depth -= 1
        default: break
        }
        guard depth == 0 else { return nil }
        defer { self = JSONObjectSplitter() }
        return object
    }
}
