/// Why something that came is no message.
public struct RescueError: Error, Sendable, Hashable {
    /// What is wrong with it.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// It is not JSON, by RFC 8259.
        case notJSON = "not_json"
        /// Bytes that belong to no object.
        case noise
        /// The link ended before the object did.
        case truncated
        /// The object is longer than ``RescueFramer/lengthLimit``, or ``RescueMessage/jsonLimit``.
        case tooLong = "too_long"
        /// The object is nested deeper than ``RescueFramer/depthLimit``.
        case tooDeep = "too_deep"
        /// Text that is not UTF-8, or has half of a surrogate pair.
        case invalidText = "invalid_text"
        /// A field is there twice.
        case duplicateField = "duplicate_field"
        /// A field is missing.
        case missingField = "missing_field"
        /// A field is of another type.
        case wrongType = "wrong_type"
        /// A field's value is none that it may have.
        case invalidValue = "invalid_value"
    }

    /// The kind of fault.
    public var code: Code
    /// Where in the object it is, in bytes; for ``Code/noise`` how many bytes there were.
    public var offset: Int
    /// The field concerned, as it is named.
    public var field: String?
    /// What would have been right.
    public var expected: String?
    /// The first bytes of what came, ``excerptLength`` at most.
    public var excerpt: [UInt8] = []

    /// How many bytes of what came an error holds at most.
    public static let excerptLength = 60

    init(_ code: Code, at offset: Int = 0, field: String? = nil, expected: String? = nil) {
        self.code = code
        self.offset = offset
        self.field = field
        self.expected = expected
    }
}

extension RescueError: CustomStringConvertible {
    /// In one sentence. It holds the name of a field as it came.
    public var description: String {
        let field = field ?? ""
        let expected = expected.map { ": expected \($0)" } ?? ""
        return switch code {
        case .notJSON: "not JSON at byte \(offset)\(expected)"
        case .noise: "\(offset.counted("byte")) that \(offset == 1 ? "belongs" : "belong") to no message"
        case .truncated: "cut off after \(offset.counted("byte"))"
        case .tooLong: "too long, with \(offset.counted("byte"))"
        case .tooDeep: "nested deeper than \(RescueFramer.depthLimit) levels"
        case .invalidText: "text that is not Unicode at byte \(offset)"
        case .duplicateField: "the field '\(field)' is there twice"
        case .missingField: "the field '\(field)' is missing"
        case .wrongType: "the field '\(field)' is of another type\(expected)"
        case .invalidValue: "the field '\(field)' has no possible value\(expected)"
        }
    }
}
