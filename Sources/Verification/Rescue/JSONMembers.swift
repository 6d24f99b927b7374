/// A JSON value. All kinds that a message does not contain are ``other``.
enum JSONMember: Sendable, Hashable {
    case text(String)
    /// A number, and its digits as written.
    case number(Double, String)
    case other

    var text: String? { if case .text(let text) = self { text } else { nil } }
    var number: Double? { if case .number(let number, _) = self { number } else { nil } }
}

/// Reads a JSON object (RFC 8259), member by member. Duplicate names are kept.
///
/// A device can send any bytes, so the depth of nesting is limited: otherwise an object could exhaust the stack.
struct JSONMembers {
    /// The largest number of arrays and objects that may be open at once. A message has one.
    static let depthLimit = 16

    /// The members, in order.
    private(set) var members: [(name: String, value: JSONMember)] = []
    private var rest: ArraySlice<UInt8>
    private var depth = 0

    /// Parses an object; nil if the bytes are not an object or not UTF-8, or if the object is nested too deeply.
    init?(_ bytes: [UInt8]) {
        guard String(validating: bytes, as: UTF8.self) != nil else { return nil }
        rest = bytes[...]
        guard let members = object(), rest.isEmpty else { return nil }
        self.members = members
    }

    subscript(_ name: String) -> JSONMember? { members.first { $0.name == name }?.value }

    // MARK: Reading

    private mutating func take(_ byte: Unicode.Scalar) -> Bool {
        guard rest.first == UInt8(ascii: byte) else { return false }
        rest.removeFirst()
        return true
    }

    private mutating func skipBlanks() { rest = rest.drop { [0x20, 0x09, 0x0A, 0x0D].contains($0) } }

    private mutating func object() -> [(name: String, value: JSONMember)]? {
        guard depth < Self.depthLimit, take("{") else { return nil }
        depth += 1
        defer { depth -= 1 }
        var members: [(name: String, value: JSONMember)] = []
        skipBlanks()
        if take("}") { return members }
        repeat {
            skipBlanks()
            guard let name = string() else { return nil }
            skipBlanks()
            guard take(":"), let value = value() else { return nil }
            members.append((name, value))
            skipBlanks()
        } while take(",")
        return take("}") ? members : nil
    }

    private mutating func value() -> JSONMember? {
        skipBlanks()
        switch rest.first {
        case UInt8(ascii: "\"")?: return string().map(JSONMember.text)
        case UInt8(ascii: "{")?: return object().map { _ in .other }
        case UInt8(ascii: "[")?: return array()
        default:
            for word in ["true", "false", "null"] where rest.starts(with: word.utf8) {
                rest = rest.dropFirst(word.utf8.count)
                return .other
            }
            return number()
        }
    }

    private mutating func array() -> JSONMember? {
        guard depth < Self.depthLimit, take("[") else { return nil }
        depth += 1
        defer { depth -= 1 }
        skipBlanks()
        if take("]") { return .other }
        repeat {
            guard value() != nil else { return nil }
            skipBlanks()
        } while take(",")
        return take("]") ? .other : nil
    }

    private mutating func digits() -> Bool {
        let count = rest.prefix { (0x30...0x39).contains($0) }.count
        rest = rest.dropFirst(count)
        return count > 0
    }

    private mutating func number() -> JSONMember? {
        let start = rest
        _ = take("-")
        let isZero = rest.first == UInt8(ascii: "0")
        let whole = rest.prefix { (0x30...0x39).contains($0) }.count
        guard digits(), !isZero || whole == 1 else { return nil }
        if take("."), !digits() { return nil }
        if rest.first == UInt8(ascii: "e") || rest.first == UInt8(ascii: "E") {
            rest.removeFirst()
            if !take("-") { _ = take("+") }
            guard digits() else { return nil }
        }
        let text = String(decoding: start.prefix(start.count - rest.count), as: UTF8.self)
        return Double(text).flatMap { $0.isFinite ? .number($0, text) : nil }
    }

    private mutating func string() -> String? {
        guard take("\"") else { return nil }
        var units: [UInt16] = []
        while let byte = rest.first {
            if take("\"") { return String(validating: units, as: UTF16.self) }
            guard byte >= 0x20 else { return nil }
            if take("\\") {
                guard let unit = escaped() else { return nil }
                units.append(unit)
            } else {
                let text = rest.prefix { $0 >= 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
                units += Array(String(decoding: text, as: UTF8.self).utf16)
                rest = rest.dropFirst(text.count)
            }
        }
        return nil
    }

    private mutating func escaped() -> UInt16? {
        guard let byte = rest.popFirst() else { return nil }
        switch Unicode.Scalar(byte) {
        case "\"", "\\", "/": return UInt16(byte)
        case "b": return 0x08
        case "f": return 0x0C
        case "n": return 0x0A
        case "r": return 0x0D
        case "t": return 0x09
        case "u":
            let digits = rest.prefix(4)
            rest = rest.dropFirst(4)
            let isHexadecimal = digits.count == 4 && digits.allSatisfy { Unicode.Scalar($0).properties.isASCIIHexDigit }
            return isHexadecimal ? UInt16(String(decoding: digits, as: UTF8.self), radix: 16) : nil
        default: return nil
        }
    }
}
