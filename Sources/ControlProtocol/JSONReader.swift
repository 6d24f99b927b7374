/// A strict JSON parser (RFC 8259) that needs one pass.
///
/// The input is untrusted. Nesting is limited, so that no input exhausts the stack. A repeated member is an error, as
/// parsers disagree on which of the two values counts.
package struct JSONReader {
    /// The maximum number of nested arrays and objects.
    package static let depthLimit = 16

    /// The error for input that is not valid JSON.
    package struct Failure: Error, Hashable, CustomStringConvertible {
        /// The number of bytes before the error.
        package var position: Int
        /// A description of the expected token.
        package var expected: String

        package var description: String { "not JSON: expected \(expected) at byte \(position + 1)" }
    }

    private let bytes: [UInt8]
    private var position = 0
    private var depth = 0

    private init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Parses `bytes`, which must hold one value and otherwise only white space.
    package static func value(of bytes: [UInt8]) throws(Failure) -> JSONValue {
        var reader = JSONReader(bytes)
        let value = try reader.value()
        reader.skipBlanks()
        guard reader.position == bytes.count else { throw reader.failure("the end of input") }
        return value
    }

    private func failure(_ expected: String) -> Failure { Failure(position: position, expected: expected) }

    // MARK: Tokens

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func skipBlanks() {
        while let byte = next, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { position += 1 }
    }

    /// Consumes the next byte if it is `byte`.
    private mutating func take(_ byte: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: byte) else { return false }
        position += 1
        return true
    }

    private mutating func expect(_ byte: Unicode.Scalar) throws(Failure) {
        skipBlanks()
        guard take(byte) else { throw failure("'\(byte)'") }
    }

    private mutating func word(_ word: StaticString, _ value: JSONValue) throws(Failure) -> JSONValue {
        let isThere = word.withUTF8Buffer { bytes[position...].starts(with: $0) }
        guard isThere else { throw failure("a value") }
        position += word.utf8CodeUnitCount
        return value
    }

    // MARK: Values

    private mutating func value() throws(Failure) -> JSONValue {
        skipBlanks()
        switch next {
        case UInt8(ascii: "{"): return try nested { reader throws(Failure) in try reader.object() }
        case UInt8(ascii: "["): return try nested { reader throws(Failure) in try reader.array() }
        case UInt8(ascii: "\""): return .text(try string())
        case UInt8(ascii: "t"): return try word("true", true)
        case UInt8(ascii: "f"): return try word("false", false)
        case UInt8(ascii: "n"): return try word("null", .null)
        default: return try number()
        }
    }

    private mutating func nested(
        _ body: (inout JSONReader) throws(Failure) -> JSONValue
    ) throws(Failure) -> JSONValue {
        guard depth < Self.depthLimit else { throw failure("at most \(Self.depthLimit) levels") }
        position += 1
        depth += 1
        defer { depth -= 1 }
        return try body(&self)
    }

    private mutating func object() throws(Failure) -> JSONValue {
        var members: [String: JSONValue] = [:]
        skipBlanks()
        if take("}") { return .object(members) }
        while true {
            skipBlanks()
            let start = position
            let name = try string()
            guard members[name] == nil else {
                throw Failure(position: start, expected: "unique members")
            }
            try expect(":")
            members[name] = try value()
            skipBlanks()
            if take("}") { return .object(members) }
            try expect(",")
        }
    }

    private mutating func array() throws(Failure) -> JSONValue {
        var values: [JSONValue] = []
        skipBlanks()
        if take("]") { return .array(values) }
        while true {
            values.append(try value())
            skipBlanks()
            if take("]") { return .array(values) }
            try expect(",")
        }
    }

    // MARK: Numbers

    private mutating func number() throws(Failure) -> JSONValue {
        let start = position
        _ = take("-")
        if !take("0") { try digits(start == position ? "a value" : "a digit") }
        var isInteger = true
        if take(".") {
            isInteger = false
            try digits("a digit")
        }
        if take("e") || take("E") {
            isInteger = false
            if !take("+") { _ = take("-") }
            try digits("a digit")
        }
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        if isInteger, let integer = Int(text) { return .integer(integer) }
        guard let number = Double(text), number.isFinite else {
            throw Failure(position: start, expected: "a smaller number")
        }
        return .number(number)
    }

    private mutating func digits(_ expected: String) throws(Failure) {
        let start = position
        while let byte = next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { position += 1 }
        if position == start { throw failure(expected) }
    }

    // MARK: Strings

    private mutating func string() throws(Failure) -> String {
        let start = position
        guard take("\"") else { throw failure("'\"'") }
        var text: [UInt8] = []
        while let byte = next {
            switch byte {
            case UInt8(ascii: "\""):
                position += 1
                guard let text = String(validating: text, as: UTF8.self) else {
                    throw Failure(position: start, expected: "UTF-8")
                }
                return text
            case UInt8(ascii: "\\"): try escape(into: &text)
            case ..<0x20: throw failure("no control character in a string")
            default:
                text.append(byte)
                position += 1
            }
        }
        throw failure("'\"'")
    }

    private mutating func escape(into text: inout [UInt8]) throws(Failure) {
        position += 1
        guard let byte = next else { throw failure("an escape") }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(byte)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "u"): text += Array(String(try scalar()).utf8)
        default:
            position -= 1
            throw failure("one of \"\\/bfnrtu")
        }
    }

    /// Reads the four digits after `\u`, and a second `\uXXXX` if the first is a leading surrogate.
    private mutating func scalar() throws(Failure) -> Unicode.Scalar {
        let start = position
        let unit = try hexadecimal()
        if let scalar = Unicode.Scalar(unit) { return scalar }
        if UTF16.isLeadSurrogate(unit), take("\\"), take("u") {
            let trail = try hexadecimal()
            if UTF16.isTrailSurrogate(trail) { return UTF16.decode(UTF16.EncodedScalar([unit, trail])) }
        }
        throw Failure(position: start, expected: "both halves of a surrogate pair")
    }

    private mutating func hexadecimal() throws(Failure) -> UInt16 {
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard let digit = next.flatMap({ Character(UnicodeScalar($0)).hexDigitValue }) else {
                throw failure("a hexadecimal digit")
            }
            unit = unit << 4 | UInt16(digit)
            position += 1
        }
        return unit
    }
}
