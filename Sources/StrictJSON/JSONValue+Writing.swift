extension JSONValue {
    /// The value `null`.
    package static let null = JSONValue(valid: Array("null".utf8)[...])

    /// A string. Characters that a terminal obeys or does not show are escaped.
    package static func text(_ text: String) -> JSONValue {
        var bytes: [UInt8] = []
        bytes.append(quoting: text)
        return JSONValue(valid: bytes[...])
    }

    /// Returns ``text(_:)`` as JSON.
    package static func quoted(_ text: String) -> String { self.text(text).json }

    /// An integer.
    package static func integer(_ value: Int) -> JSONValue { JSONValue(word: value.description) }

    /// A number; `null` for infinity and NaN, which JSON can't represent.
    package static func number(_ value: Double) -> JSONValue {
        value.isFinite ? JSONValue(word: value.description) : .null
    }

    /// `true` or `false`.
    package static func boolean(_ value: Bool) -> JSONValue { JSONValue(word: value.description) }

    /// An array.
    package static func array(_ values: [JSONValue]) -> JSONValue {
        let elements = values.map(\.bytes).joined(separator: [UInt8(ascii: ",")])
        return JSONValue(valid: [UInt8(ascii: "[")] + elements + [UInt8(ascii: "]")])
    }

    /// An object, with its members sorted by name.
    package static func object(_ members: [String: JSONValue]) -> JSONValue {
        var object = JSONObjectBuilder()
        for (name, value) in members.sorted(by: { $0.key < $1.key }) { object.add(name, value) }
        return object.value
    }

    private init(word: String) { self.init(valid: Array(word.utf8)[...]) }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral {
    package init(stringLiteral value: String) { self = .text(value) }

    package init(booleanLiteral value: Bool) { self = .boolean(value) }

    package init(integerLiteral value: Int) { self = .integer(value) }
}

/// A JSON object under construction, with its members in the order of adding.
package struct JSONObjectBuilder: Sendable, Hashable {
    /// The object so far. Bytes, because appending to a string takes five times as long.
    package private(set) var bytes = Array("{}".utf8)

    /// Creates an object without members.
    package init() {}

    /// Creates an object from bytes that begin and end with braces, and are not checked otherwise.
    package init(unchecked bytes: [UInt8]) { self.bytes = bytes }

    /// The object so far. Everything that was added must be valid JSON.
    var value: JSONValue { JSONValue(valid: bytes[...]) }

    /// The object so far, as text.
    package var json: String { String(decoding: bytes, as: UTF8.self) }

    /// Whether the object has no members.
    package var isEmpty: Bool { bytes.count == 2 }

    /// Adds a string.
    package mutating func add(_ name: String, text: String) { add(name) { $0.append(quoting: text) } }

    /// Adds a number or a Boolean value, as Swift describes it.
    package mutating func add(_ name: String, word: String) { add(name) { $0 += word.utf8 } }

    /// Adds a value.
    package mutating func add(_ name: String, _ value: JSONValue) { add(name) { $0 += value.bytes } }

    /// Adds a value that is known to be valid JSON.
    package mutating func add(_ name: String, json: [UInt8]) { add(name) { $0 += json } }

    private mutating func add(_ name: String, _ appendValue: (inout [UInt8]) -> Void) {
        if isEmpty { bytes.reserveCapacity(128) }
        bytes.removeLast()
        if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
        bytes.append(quoting: name)
        bytes.append(UInt8(ascii: ":"))
        appendValue(&bytes)
        bytes.append(UInt8(ascii: "}"))
    }
}

extension [UInt8] {
    /// Appends text as a JSON string. Characters that a terminal obeys or does not show are escaped.
    package mutating func append(quoting text: String) {
        let (quote, backslash) = (UInt8(ascii: "\""), UInt8(ascii: "\\"))
        append(quote)
        var text = text
        let isPlain = text.withUTF8 { bytes in
            let isPlain = bytes.allSatisfy { $0 >= 0x20 && $0 < 0x7F && $0 != quote && $0 != backslash }
            if isPlain { append(contentsOf: bytes) }
            return isPlain
        }
        if !isPlain {
            for scalar in text.unicodeScalars {
                switch scalar {
                case "\"", "\\": self += [backslash, UInt8(ascii: scalar)]
                case _ where scalar.isShown: self += String(scalar).utf8
                default: self += scalar.escapeInJSON.utf8
                }
            }
        }
        append(quote)
    }
}

extension Unicode.Scalar {
    /// Whether a terminal shows the character or joins its neighbours by it. False for a character that a terminal obeys
    /// or that is invisible.
    package var isShown: Bool {
        if value < 0x7F { return value >= 0x20 }
        return switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: false
        case .format: value == 0x200D  // U+200D joins emoji
        default: true
        }
    }

    /// The character as an escape for a JSON string: one `\uXXXX` or two.
    package var escapeInJSON: String {
        String(self).utf16.map { unit in
            let digits = String(unit, radix: 16)
            return "\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits
        }.joined()
    }
}
