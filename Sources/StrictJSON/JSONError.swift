/// The reason why bytes are not a JSON value that a ``JSONValue`` accepts.
package struct JSONError: Error, Sendable, Hashable {
    /// The kinds of errors.
    package enum Code: Sendable, Hashable {
        /// The bytes are not JSON by RFC 8259.
        case notJSON
        /// The bytes end within the value.
        case truncated
        /// The value has more bytes than the caller allows.
        case tooLong
        /// The value is nested deeper than the caller allows.
        case tooDeep
        /// The text of a string, or of a member's name, is not UTF-8 or has half of a surrogate pair.
        case invalidText
        /// An object has a member twice.
        case duplicateName(String)
    }

    /// The kind of error.
    package var code: Code
    /// The number of bytes before the error. For ``Code/tooLong``: the number of all bytes. For ``Code/invalidText``: the
    /// number of bytes before the string, or before the escape of half a surrogate pair.
    package var offset: Int
    /// The valid input in place of the error, in words; nil if the code alone says it.
    package var expected: String?

    package init(_ code: Code, at offset: Int, expected: String? = nil) {
        (self.code, self.offset, self.expected) = (code, offset, expected)
    }
}

extension JSONError: CustomStringConvertible {
    package var description: String {
        let place = "at byte \(offset + 1)"
        return switch code {
        case .notJSON: "not JSON: expected \(expected ?? "a value") \(place)"
        case .truncated: "not JSON: expected more input \(place)"
        case .tooLong: "too long, with \(offset) bytes"
        case .tooDeep: "nested too deeply \(place): expected \(expected ?? "fewer levels")"
        case .invalidText: "text that is not Unicode \(place)"
        case .duplicateName: "a member is there twice \(place)"
        }
    }
}
