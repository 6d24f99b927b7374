/// A JSON value (RFC 8259), kept as its bytes.
///
///     let request = try JSONValue(line, size: 65_536)
///     print(request["device"]?.text ?? "?")
///     let response = JSONValue.object(["id": 1, "ok": true])
///
/// A value is valid JSON without white space around it. Values are equal if their bytes are: `1` and `1.0` differ. A part
/// of a value keeps the bytes of the whole value in memory.
package struct JSONValue: Sendable, Hashable {
    /// The value as it was written.
    package let bytes: ArraySlice<UInt8>

    /// Creates a value from bytes that are known to be valid.
    init(valid bytes: ArraySlice<UInt8>) { self.bytes = bytes }

    /// Parses one value, with or without white space around it.
    ///
    /// - Parameters:
    ///   - bytes: The value.
    ///   - depth: The largest number of arrays and objects that may be open at once, at most 64.
    ///   - size: The largest number of bytes.
    ///   - isLenient: Whether an object may have a member twice, and a string may be invalid Unicode, such as half of a
    ///     surrogate pair. Parsers disagree on both, so by default these are errors.
    package init(
        _ bytes: [UInt8], depth: Int = 16, size: Int, isLenient: Bool = false
    ) throws(JSONError) {
        guard bytes.count <= size else { throw JSONError(.tooLong, at: bytes.count) }
        self.init(valid: bytes[try Self.extent(of: bytes, depth)])
        if !isLenient { try check() }
    }

    /// Returns the place of the only value in `bytes`.
    private static func extent(of bytes: [UInt8], _ depthLimit: Int) throws(JSONError) -> Range<Int> {
        var grammar = JSONGrammar(depthLimit: depthLimit)
        let start = bytes.firstIndex { !$0.isJSONBlank } ?? bytes.count
        var index = start
        while index < bytes.count {
            switch grammar.take(bytes[index]) {
            case .more:
                index += 1
                guard grammar.isWithinString else { continue }
                index = bytes.span.endOfPlainText(from: index)
            case .wrong(let code, let expected): throw JSONError(code, at: index, expected: expected)
            case .end, .endBefore:
                // A number ends before the byte that ends it.
                let end = grammar.isNumberComplete ? index : index + 1
                guard let rest = bytes[end...].firstIndex(where: { !$0.isJSONBlank }) else { return start..<end }
                throw JSONError(.notJSON, at: rest, expected: "the end of input")
            }
        }
        guard grammar.isNumberComplete else { throw JSONError(.truncated, at: bytes.count) }
        return start..<bytes.count
    }

    /// Finds the errors that the grammar does not see: invalid Unicode in strings, and duplicate names of members.
    private func check() throws(JSONError) {
        switch bytes.first {
        case UInt8(ascii: "\""):
            // Almost all strings are plain ASCII, which is right as it stands.
            if !bytes.span.isPlainASCII { _ = try decodedText() }
        case UInt8(ascii: "["): for element in JSONScanner(inside: self) { try element.check() }
        case UInt8(ascii: "{"):
            // Bytes, because two names that differ in bytes may be equal as strings.
            var names: Set<[UInt8]> = []
            var scanner = JSONScanner(inside: self)
            while let member = scanner.nextMember() {
                let name = try member.nameValue.decodedText()
                guard names.insert(Array(name.utf8)).inserted else {
                    throw JSONError(.duplicateName(name), at: member.nameValue.bytes.startIndex)
                }
                try member.value.check()
            }
        default: break
        }
    }

    /// The value as text. A value that was parsed may contain characters that a terminal obeys.
    package var json: String { String(decoding: bytes, as: UTF8.self) }
}

extension JSONValue: CustomStringConvertible {
    package var description: String { json }
}

// MARK: Reading

extension JSONValue {
    /// The text of a string; nil for any other value, and for a text that is not Unicode.
    package var text: String? { try? isText ? decodedText() : nil }

    /// Returns the text of a JSON string; nil for any other input.
    package static func text(of json: some StringProtocol) -> String? {
        guard json.utf8.first == UInt8(ascii: "\"") else { return nil }
        return (try? JSONValue(Array(json.utf8), depth: 0, size: .max))?.text
    }

    /// Whether the value is a string.
    package var isText: Bool { bytes.first == UInt8(ascii: "\"") }

    /// Whether the value is a number.
    package var isNumber: Bool {
        guard let first = bytes.first else { return false }
        return first == UInt8(ascii: "-") || first.isDigit
    }

    /// Whether the value is `null`.
    package var isNull: Bool { bytes.first == UInt8(ascii: "n") }

    /// The value of a number without fraction and exponent that fits; nil for any other value.
    package var integer: Int? { isNumber ? Int(json) : nil }

    /// The value of a number, rounded to the nearest `Double`; nil for any other value, and for a number that is too
    /// large.
    package var number: Double? {
        guard isNumber else { return nil }
        return shortDecimal ?? Double(json).flatMap { $0.isFinite ? $0 : nil }
    }

    /// The value of `true` or `false`; nil for any other value.
    package var boolean: Bool? {
        switch bytes.first {
        case UInt8(ascii: "t"): true
        case UInt8(ascii: "f"): false
        default: nil
        }
    }

    /// Whether the value is an array.
    package var isArray: Bool { bytes.first == UInt8(ascii: "[") }

    /// The elements of an array; nil for any other value.
    package var elements: [JSONValue]? {
        isArray ? Array(JSONScanner(inside: self)) : nil
    }

    /// The members of an object, in order; nil for any other value.
    package var members: [JSONMember]? {
        guard isObject else { return nil }
        var (scanner, members) = (JSONScanner(inside: self), [JSONMember]())
        while let member = scanner.nextMember() { members.append(member) }
        return members
    }

    /// The members of an object by name; nil for any other value. Of duplicates, the first one counts.
    package var dictionary: [String: JSONValue]? {
        members.map { Dictionary($0.map { ($0.name, $0.value) }) { first, _ in first } }
    }

    /// Whether the value is an object.
    package var isObject: Bool { bytes.first == UInt8(ascii: "{") }

    /// The value of the first member with this name; nil if there is none, or if this value is not an object.
    package subscript(_ name: String) -> JSONValue? {
        guard isObject else { return nil }
        var scanner = JSONScanner(inside: self)
        while let member = scanner.nextMember() {
            if member.name == name { return member.value }
        }
        return nil
    }

    /// The value of a number without exponent that has up to 15 characters after its sign, for which one division gives
    /// the nearest value; nil for any other number. Almost all numbers in a record have this form, and `Double.init` is
    /// much slower.
    private var shortDecimal: Double? {
        let isNegative = bytes.first == UInt8(ascii: "-")
        let digits = isNegative ? bytes.dropFirst() : bytes
        guard digits.count <= 15 else { return nil }
        var (number, scale, isBehindPoint) = (0, 1, false)
        for byte in digits {
            if byte == UInt8(ascii: ".") {
                isBehindPoint = true
            } else if byte.isDigit {
                number = number * 10 + Int(byte - UInt8(ascii: "0"))
                scale *= isBehindPoint ? 10 : 1
            } else {
                return nil
            }
        }
        let value = Double(number) / Double(scale)
        return isNegative ? -value : value
    }

    /// Returns the text of a string. The value must be a string.
    ///
    /// - Throws: ``JSONError/Code/invalidText`` if the text is not UTF-8, or has half of a surrogate pair.
    package func decodedText() throws(JSONError) -> String {
        let content = bytes.dropFirst().dropLast()
        if !content.contains(UInt8(ascii: "\\")) {
            if let text = String(validating: content, as: UTF8.self) { return text }
            throw JSONError(.invalidText, at: bytes.startIndex)
        }
        var text: [UInt8] = []
        text.reserveCapacity(content.count)
        var index = content.startIndex
        while index < content.endIndex {
            let byte = content[index]
            index += 1
            guard byte == UInt8(ascii: "\\") else {
                text.append(byte)
                continue
            }
            let escape = content[index]
            index += 1
            switch escape {
            case UInt8(ascii: "u"): text += try scalar(in: content, at: &index).utf8
            case UInt8(ascii: "b"): text.append(0x08)
            case UInt8(ascii: "f"): text.append(0x0C)
            case UInt8(ascii: "n"): text.append(0x0A)
            case UInt8(ascii: "r"): text.append(0x0D)
            case UInt8(ascii: "t"): text.append(0x09)
            default: text.append(escape)
            }
        }
        if let text = String(validating: text, as: UTF8.self) { return text }
        throw JSONError(.invalidText, at: bytes.startIndex)
    }

    /// Returns the character of one or two `\uXXXX`. At the call, `index` is directly after the first `\u`; at the
    /// return, after the last digit.
    private func scalar(in content: ArraySlice<UInt8>, at index: inout Int) throws(JSONError) -> String {
        let start = index - 2
        let unit = unit(at: &index)
        if let scalar = Unicode.Scalar(unit) { return String(scalar) }
        if UTF16.isLeadSurrogate(unit), content[index...].starts(with: [UInt8(ascii: "\\"), UInt8(ascii: "u")]) {
            index += 2
            let trail = self.unit(at: &index)
            if UTF16.isTrailSurrogate(trail) { return String(UTF16.decode(UTF16.EncodedScalar([unit, trail]))) }
        }
        throw JSONError(.invalidText, at: start)
    }

    /// Returns the UTF-16 code unit of the four hexadecimal digits at `index`, and moves `index` past them.
    private func unit(at index: inout Int) -> UInt16 {
        defer { index += 4 }
        return bytes[index..<index + 4].reduce(0) { $0 << 4 | UInt16(JSONGrammar.hexDigit($1) ?? 0) }
    }
}

extension UInt8 {
    /// Whether the byte has no special meaning in a string.
    package var isPlainInString: Bool { self >= 0x20 && self != UInt8(ascii: "\"") && self != UInt8(ascii: "\\") }

    fileprivate var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
}

extension Span<UInt8> {
    /// Returns the index of the first byte from `start` on that has a special meaning in a string; the number of bytes
    /// if there is none.
    func endOfPlainText(from start: Int) -> Int {
        var index = endOfPlainASCII(from: start)
        while index < count, self[index].isPlainInString { index = endOfPlainASCII(from: index + 1) }
        return index
    }

    /// Whether a string, given with its quotes, has neither escapes nor characters beyond ASCII: then the first special
    /// byte is the closing quote.
    fileprivate var isPlainASCII: Bool { endOfPlainASCII(from: 1) == count - 1 }

    /// Returns the index of the first byte from `start` on that has a special meaning in a string or is not ASCII; the
    /// number of bytes if there is none.
    private func endOfPlainASCII(from start: Int) -> Int {
        // The lowest and the highest bit of each byte of a word.
        let (ones, tops): (UInt64, UInt64) = (0x0101_0101_0101_0101, 0x8080_8080_8080_8080)
        var index = start
        while index <= count - 8 {
            let word = bytes.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self)
            let quotes = word ^ ones &* UInt64(UInt8(ascii: "\""))
            let backslashes = word ^ ones &* UInt64(UInt8(ascii: "\\"))
            // Subtracting sets the highest bit of each byte that was too small, and sometimes of bytes above it, which
            // the loop below looks at again. Bytes beyond ASCII have the bit already.
            let found = (word &- ones &* 0x20) | (quotes &- ones) | (backslashes &- ones) | word
            if found & tops != 0 { break }
            index += 8
        }
        while index < count, self[index] < 0x80, self[index].isPlainInString { index += 1 }
        return index
    }
}
