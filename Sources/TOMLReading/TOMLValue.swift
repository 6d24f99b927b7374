internal import CTOML

/// A value of a TOML text.
struct TOMLValue {
    /// The kinds of values, with the contents of the kinds that configurations use.
    enum Content {
        case table, array
        case string(String), integer(Int), number(Double), flag(Bool)
        case date, time, dateTime
    }

    let content: Content
    /// The key; empty in an array.
    let key: String
    /// The line of the key, or of the value itself in an array; from 1.
    let line: Int
    /// The number of tables and arrays that contain the value.
    let depth: Int

    /// Parses all values of a text. The table of the whole text is the first one; a table or an array precedes its
    /// elements.
    static func all(of text: String) throws(ConfigurationError) -> [TOMLValue] {
        try check(text)
        var (reading, text) = (Reading(), text)
        withUnsafeMutablePointer(to: &reading) { reading in
            text.withUTF8 { bytes in
                bytes.withMemoryRebound(to: CChar.self) { bytes in
                    ctoml_read(
                        ctoml_text(bytes: bytes.baseAddress, length: bytes.count), reading,
                        { $0?.assumingMemoryBound(to: Reading.self).pointee.add($1!.pointee) },
                        { $0?.assumingMemoryBound(to: Reading.self).pointee.error = .syntax(String($1), $2) })
                }
            }
        }
        if let error = reading.error { throw error }
        return reading.values
    }

    /// Refuses NUL characters, and lines with so many dots that a key in them could make the parser overflow the stack.
    private static func check(_ text: String) throws(ConfigurationError) {
        var (line, dots) = (1, 0)
        for byte in text.utf8 {
            switch byte {
            case 0:
                throw ConfigurationError(
                    .syntax, "line \(line)", "unexpected NUL character", hint: "write the file as UTF-8 text")
            case UInt8(ascii: "\n"): (line, dots) = (line + 1, 0)
            case UInt8(ascii: "."): dots += 1
            default: break
            }
            if dots > 256 {
                throw ConfigurationError(
                    .syntax, "line \(line)", "more than 256 dots", hint: "write it on several lines")
            }
        }
    }
}

/// The values and the error that the parser has reported so far.
private struct Reading {
    var values: [TOMLValue] = []
    var error: ConfigurationError?

    mutating func add(_ value: ctoml_value) {
        let (key, string, line) = (String(value.key), String(value.string), Int(value.line))
        // A NUL would end a path, so that two different values could mean the same path.
        if error == nil, key.utf8.contains(0) || string.utf8.contains(0) {
            error = ConfigurationError(.syntax, "line \(line)", "unexpected NUL character", hint: "remove \\u0000")
        }
        let content: TOMLValue.Content =
            switch value.kind {
            case CTOML_TABLE: .table
            case CTOML_ARRAY: .array
            case CTOML_STRING: .string(string)
            case CTOML_INTEGER: .integer(Int(value.integer))
            case CTOML_FLOAT: .number(value.number)
            case CTOML_BOOLEAN: .flag(value.integer != 0)
            case CTOML_DATE: .date
            case CTOML_TIME: .time
            default: .dateTime
            }
        values.append(TOMLValue(content: content, key: key, line: line, depth: value.depth))
    }
}

extension String {
    fileprivate init(_ text: ctoml_text) {
        self.init(decoding: UnsafeRawBufferPointer(start: text.bytes, count: text.length), as: UTF8.self)
    }
}

extension ConfigurationError {
    /// Creates the error for text that is not TOML.
    fileprivate static func syntax(_ problem: String, _ line: UInt32) -> ConfigurationError {
        // The parser, toml++, names its limit by the macro that sets it.
        let isDeep = problem.hasSuffix("(TOML_MAX_NESTED_VALUES)")
        return ConfigurationError(
            .syntax, "line \(line)", isDeep ? "arrays and tables are nested too deeply" : problem,
            hint: "correct the TOML syntax: see https://toml.io")
    }
}
