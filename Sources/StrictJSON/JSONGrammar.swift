/// Parses a JSON value byte by byte, strictly by RFC 8259, and reports the end of the value or its first error.
///
/// The grammar stores only its state and the nesting of the value, not the bytes.
package struct JSONGrammar: Sendable {
    /// The result of parsing one byte.
    package enum Step {
        /// The value goes on.
        case more
        /// The value ends with this byte.
        case end
        /// The value is a number, which ended before this byte.
        case endBefore
        /// The byte can't stand here.
        case wrong(JSONError.Code, expected: String)
    }

    private enum State {
        /// After `{`.
        case firstName
        /// After `,` in an object.
        case name
        case colon
        case value
        /// After `[`.
        case firstValue
        /// After a value.
        case separator
        case string(isName: Bool)
        case escape(isName: Bool)
        case hex(left: Int, isName: Bool)
        /// After `-`.
        case minus
        /// After a leading `0`.
        case zero
        case integer
        /// After the decimal point.
        case point
        case fraction
        /// After `e`.
        case exponent
        case exponentSign
        case exponentDigits
        /// Within `true`, `false` or `null`: the remaining bytes, with the next one lowest.
        case literal(left: UInt32)
    }

    private var state = State.value
    /// One bit for each open container, with the innermost lowest: 1 for an object, 0 for an array.
    private var objects: UInt64 = 0
    private var depth = 0
    private let depthLimit: Int

    /// - Parameter depthLimit: The largest number of containers that may be open at once, at most 64.
    package init(depthLimit: Int) {
        precondition((0...64).contains(depthLimit), "the nesting is kept in 64 bits")
        self.depthLimit = depthLimit
    }

    /// Whether the value is a number that may end here.
    var isNumberComplete: Bool {
        switch state {
        case .zero, .integer, .fraction, .exponentDigits: depth == 0
        default: false
        }
    }

    /// Whether the next byte is in a string. Then the byte changes nothing unless it is `"`, `\`, or a control
    /// character.
    package var isWithinString: Bool { if case .string = state { true } else { false } }

    /// Parses the next byte. After any step but ``Step/more``, the grammar takes no further byte.
    package mutating func take(_ byte: UInt8) -> Step {
        switch state {
        case .firstName where byte == UInt8(ascii: "}"): return close(isObject: true)
        case .firstName, .name:
            if byte.isJSONBlank { return .more }
            guard byte == UInt8(ascii: "\"") else { return .wrong(.notJSON, expected: "the name of a field") }
            state = .string(isName: true)
        case .colon:
            if byte.isJSONBlank { return .more }
            guard byte == UInt8(ascii: ":") else { return .wrong(.notJSON, expected: "':'") }
            state = .value
        case .firstValue where byte == UInt8(ascii: "]"): return close(isObject: false)
        case .firstValue, .value: return beginValue(byte)
        case .separator: return separate(byte)
        case .string(let isName):
            switch byte {
            case UInt8(ascii: "\"") where isName: state = .colon
            case UInt8(ascii: "\""): return endValue()
            case UInt8(ascii: "\\"): state = .escape(isName: isName)
            case ..<0x20: return .wrong(.notJSON, expected: "no control character in a string")
            default: break
            }
        case .escape(let isName):
            switch byte {
            case UInt8(ascii: "u"): state = .hex(left: 4, isName: isName)
            case _ where Self.escapes.contains(byte): state = .string(isName: isName)
            default: return .wrong(.notJSON, expected: "one of \"\\/bfnrtu after '\\'")
            }
        case .hex(let left, let isName):
            guard Self.hexDigit(byte) != nil else { return .wrong(.notJSON, expected: "four hexadecimal digits") }
            state = left > 1 ? .hex(left: left - 1, isName: isName) : .string(isName: isName)
        case .literal(let left):
            guard left & 0xFF == UInt32(byte) else { return .wrong(.notJSON, expected: "true, false or null") }
            if left >> 8 == 0 { return endValue() }
            state = .literal(left: left >> 8)
        default: return takeOfNumber(byte)
        }
        return .more
    }

    private mutating func beginValue(_ byte: UInt8) -> Step {
        switch byte {
        case _ where byte.isJSONBlank: break
        case UInt8(ascii: "{"): return open(isObject: true)
        case UInt8(ascii: "["): return open(isObject: false)
        case UInt8(ascii: "\""): state = .string(isName: false)
        case UInt8(ascii: "-"): state = .minus
        case UInt8(ascii: "0"): state = .zero
        case UInt8(ascii: "1")...UInt8(ascii: "9"): state = .integer
        case UInt8(ascii: "t"): state = Self.literal("rue")
        case UInt8(ascii: "f"): state = Self.literal("alse")
        case UInt8(ascii: "n"): state = Self.literal("ull")
        default: return .wrong(.notJSON, expected: "a value")
        }
        return .more
    }

    private mutating func takeOfNumber(_ byte: UInt8) -> Step {
        let isDigit = (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
        let isExponent = byte == UInt8(ascii: "e") || byte == UInt8(ascii: "E")
        switch state {
        case .minus where isDigit: state = byte == UInt8(ascii: "0") ? .zero : .integer
        case .integer where isDigit, .fraction where isDigit, .exponentDigits where isDigit: break
        case .zero where byte == UInt8(ascii: "."), .integer where byte == UInt8(ascii: "."): state = .point
        case .point where isDigit: state = .fraction
        case .zero where isExponent, .integer where isExponent, .fraction where isExponent: state = .exponent
        case .exponent where byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-"): state = .exponentSign
        case .exponent where isDigit, .exponentSign where isDigit: state = .exponentDigits
        case .zero, .integer, .fraction, .exponentDigits: return depth == 0 ? .endBefore : separate(byte)
        default: return .wrong(.notJSON, expected: "a digit")
        }
        return .more
    }

    /// Takes a byte after a value: white space, a comma, or the end of the container.
    private mutating func separate(_ byte: UInt8) -> Step {
        let isInObject = objects & 1 == 1
        switch byte {
        case _ where byte.isJSONBlank: state = .separator
        case UInt8(ascii: ","): state = isInObject ? .name : .value
        case UInt8(ascii: "}") where isInObject: return close(isObject: true)
        case UInt8(ascii: "]") where !isInObject: return close(isObject: false)
        default: return .wrong(.notJSON, expected: isInObject ? "',' or '}'" : "',' or ']'")
        }
        return .more
    }

    private mutating func open(isObject: Bool) -> Step {
        guard depth < depthLimit else { return .wrong(.tooDeep, expected: "\(depthLimit) levels at most") }
        depth += 1
        objects = objects << 1 | (isObject ? 1 : 0)
        state = isObject ? .firstName : .firstValue
        return .more
    }

    private mutating func close(isObject: Bool) -> Step {
        depth -= 1
        objects >>= 1
        return endValue()
    }

    private mutating func endValue() -> Step {
        state = .separator
        return depth == 0 ? .end : .more
    }

    private static func literal(_ rest: StaticString) -> State {
        .literal(left: rest.withUTF8Buffer { $0.reversed().reduce(0) { $0 << 8 | UInt32($1) } })
    }

    private static let escapes = Array("\"\\/bfnrt".utf8)

    /// Returns the value of a hexadecimal digit; nil for any other byte.
    package static func hexDigit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}

extension UInt8 {
    /// Whether the byte is white space between two JSON tokens.
    package var isJSONBlank: Bool { self == 0x20 || self == 0x09 || self == 0x0A || self == 0x0D }
}
