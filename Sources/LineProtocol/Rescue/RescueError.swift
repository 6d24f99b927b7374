/// The reason why received data is not a message.
public struct RescueError: Error, Sendable, Hashable {
    /// The kinds of fault.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// The data is not JSON by RFC 8259.
        case notJSON = "not_json"
        /// There are bytes outside any object.
        case noise
        /// The link ended before the object did.
        case truncated
        /// The object is longer than ``RescueFramer/lengthLimit``, or ``RescueMessage/jsonLimit``.
        case tooLong = "too_long"
        /// The object is nested deeper than ``RescueFramer/depthLimit``.
        case tooDeep = "too_deep"
        /// The text is not UTF-8, or has half of a surrogate pair.
        case invalidText = "invalid_text"
        /// The object has a field twice.
        case duplicateField = "duplicate_field"
        /// A field is missing.
        case missingField = "missing_field"
        /// A field has a value of the wrong type.
        case wrongType = "wrong_type"
        /// A field has an invalid value.
        case invalidValue = "invalid_value"
    }

    /// The kind of fault.
    public var code: Code
    /// The position of the fault in the object, in bytes; 0 if the fault has none. For ``Code/truncated`` and
    /// ``Code/tooLong``: the number of bytes of the object that were received. For ``Code/noise``: the number of bytes
    /// outside any object.
    public var offset: Int
    /// The name of the field at fault, unchanged; nil if the fault is not in a field.
    public var field: String?
    /// The valid input in place of the fault, in words; nil if the code alone says it.
    public var expected: String?
    /// The first bytes of the data, at most ``excerptLength``.
    public var excerpt: [UInt8] = []

    /// The largest number of bytes in ``excerpt``.
    public static let excerptLength = 60

    init(_ code: Code, at offset: Int = 0, field: String? = nil, expected: String? = nil) {
        self.code = code
        self.offset = offset
        self.field = field
        self.expected = expected
    }
}

extension RescueError: CustomStringConvertible {
    /// The fault in one sentence. The name of a field is not escaped: escape the text before a terminal shows it.
    public var description: String {
        let field = field ?? ""
        let expected = expected.map { ": expected \($0)" } ?? ""
        return switch code {
        case .notJSON: "not JSON at byte \(offset)\(expected)"
        case .noise: "\(offset.counted("byte")) outside any message"
        case .truncated: "cut off after \(offset.counted("byte"))"
        case .tooLong: "too long: \(offset.counted("byte"))"
        case .tooDeep: "nested deeper than \(RescueFramer.depthLimit) levels"
        case .invalidText: "invalid Unicode text at byte \(offset)"
        case .duplicateField: "duplicate field '\(field)'"
        case .missingField: "the field '\(field)' is missing"
        case .wrongType: "the field '\(field)' has the wrong type\(expected)"
        case .invalidValue: "the field '\(field)' has an invalid value\(expected)"
        }
    }
}
