/// The fields of a JSON object, with values that are not parsed yet.
package struct JSONObject {
    /// A field: its name, and the range of its value in ``bytes``.
    package struct Field {
        package let name: String
        package let value: Range<Int>
    }

    let bytes: [UInt8]
    package private(set) var fields: [Field] = []

    /// Splits an object into its fields.
    ///
    /// - Parameters:
    ///   - bytes: The object, with or without white space around it.
    ///   - limit: The largest number of bytes.
    /// - Throws: ``RescueError`` if the bytes are too long or not valid JSON, contain more than one object, or have a
    ///   field twice.
    package init(_ bytes: [UInt8], limit: Int = RescueMessage.jsonLimit) throws(RescueError) {
        guard bytes.count <= limit else { throw RescueError(.tooLong, at: bytes.count) }
        self.bytes = bytes
        let start = bytes.firstIndex { !$0.isJSONBlank } ?? 0
        try Self.check(bytes, from: start)
        var names: Set<String> = []
        var index = nextToken(behind: start)
        while bytes[index] != UInt8(ascii: "}") {
            let nameEnd = end(ofValueAt: index)
            let name = try string(index..<nameEnd)
            guard names.insert(name).inserted else { throw RescueError(.duplicateField, at: index, field: name) }
            let value = nextToken(behind: nextToken(from: nameEnd))
            let valueEnd = end(ofValueAt: value)
            fields.append(Field(name: name, value: value..<valueEnd))
            index = nextToken(from: valueEnd)
            if bytes[index] == UInt8(ascii: ",") { index = nextToken(behind: index) }
        }
    }

    /// Checks that the bytes contain one object and nothing else. Later code assumes valid input and checks no bounds.
    private static func check(_ bytes: [UInt8], from start: Int) throws(RescueError) {
        var grammar = JSONGrammar(depthLimit: RescueFramer.depthLimit)
        for index in start..<bytes.count {
            switch grammar.take(bytes[index]) {
            case .more: continue
            case .wrong(let code, let expected): throw RescueError(code, at: index, expected: expected)
            case .end:
                guard let rest = bytes[(index + 1)...].firstIndex(where: { !$0.isJSONBlank }) else { return }
                throw RescueError(.notJSON, at: rest, expected: "nothing after the object")
            }
        }
        throw RescueError(.truncated, at: bytes.count)
    }

    private func nextToken(from index: Int) -> Int {
        var index = index
        while bytes[index].isJSONBlank { index += 1 }
        return index
    }

    private func nextToken(behind index: Int) -> Int { nextToken(from: index + 1) }

    private func end(ofValueAt start: Int) -> Int {
        var index = start
        var depth = 0
        repeat {
            switch bytes[index] {
            case UInt8(ascii: "\""):
                index += 1
                while bytes[index] != UInt8(ascii: "\"") { index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1 }
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            case let byte where depth == 0 && !byte.isJSONBlank:
                // A number or literal ends at white space or punctuation.
                while !bytes[index].isJSONBlank, !",}]".utf8.contains(bytes[index]) { index += 1 }
                return index
            default: break
            }
            index += 1
        } while depth > 0
        return index
    }

    // MARK: Values

    /// Returns the string in `range`, which includes both quotes. The value must be a string: see ``isString(_:)``.
    ///
    /// - Throws: `invalidText` if the text is not UTF-8, or has half of a surrogate pair.
    package func string(_ range: Range<Int>) throws(RescueError) -> String {
        let content = bytes[range].dropFirst().dropLast()
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
            guard escape == UInt8(ascii: "u") else {
                text.append(Self.plain[escape] ?? escape)
                continue
            }
            let scalar = try scalar(in: content, at: &index)
            text += Array(String(scalar).utf8)
        }
        guard let text = String(validating: text, as: UTF8.self) else {
            throw RescueError(.invalidText, at: range.lowerBound)
        }
        return text
    }

    /// Returns the scalar of one or two `\uXXXX`. At the call, `index` is directly after the first `\u`; at the return,
    /// after the last digit.
    private func scalar(in content: ArraySlice<UInt8>, at index: inout Int) throws(RescueError) -> Unicode.Scalar {
        let start = index - 2
        let unit = unit(at: &index)
        if let scalar = Unicode.Scalar(unit) { return scalar }
        if UTF16.isLeadSurrogate(unit), content[index...].starts(with: Array("\\u".utf8)) {
            index += 2
            let trail = self.unit(at: &index)
            if UTF16.isTrailSurrogate(trail) { return UTF16.decode(UTF16.EncodedScalar([unit, trail])) }
        }
        throw RescueError(.invalidText, at: start)
    }

    private func unit(at index: inout Int) -> UInt16 {
        defer { index += 4 }
        return bytes[index..<index + 4].reduce(0) { $0 << 4 | UInt16(JSONGrammar.hexDigit($1) ?? 0) }
    }

    /// Whether the value is a string.
    package func isString(_ range: Range<Int>) -> Bool { bytes[range.lowerBound] == UInt8(ascii: "\"") }

    /// Returns the number; nil if the value is not a number, or too large.
    func number(_ range: Range<Int>) -> Double? {
        guard bytes[range.lowerBound].isNumberBegin else { return nil }
        return Double(String(decoding: bytes[range], as: UTF8.self)).flatMap { $0.isFinite ? $0 : nil }
    }

    /// Whether the value is a number.
    func isNumber(_ range: Range<Int>) -> Bool { bytes[range.lowerBound].isNumberBegin }

    private static let plain: [UInt8: UInt8] = [
        UInt8(ascii: "b"): 0x08, UInt8(ascii: "f"): 0x0C, UInt8(ascii: "n"): 0x0A, UInt8(ascii: "r"): 0x0D,
        UInt8(ascii: "t"): 0x09,
    ]
}

extension UInt8 {
    fileprivate var isNumberBegin: Bool {
        self == UInt8(ascii: "-") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self)
    }
}
