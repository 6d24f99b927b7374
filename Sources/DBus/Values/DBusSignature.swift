internal import CDBus

/// The types of values in D-Bus notation: `s` is a string, `a{sv}` a dictionary.
public struct DBusSignature: Sendable, Hashable {
    /// The type codes, one after the other.
    public let text: String

    /// Creates a signature of any number of values; nil if `text` is not a valid signature.
    public init?(_ text: String) {
        guard !text.utf8.contains(0), cdbus_is_signature(text) else { return nil }
        self.text = text
    }

    /// Creates a signature from a string that libdbus has validated, or that was composed of validated signatures.
    init(checked text: String) { self.text = text }

    /// The signature of no values.
    public static let empty = DBusSignature(checked: "")

    /// Creates the signature of a list of values.
    public init(of values: [DBusValue]) {
        text = values.reduce(into: "") { $0 += $1.signature.text }
    }

    /// The signatures of the individual values.
    public var parts: [DBusSignature] {
        var parts: [DBusSignature] = []
        var rest = Substring(text)
        while !rest.isEmpty {
            let end = Self.endOfFirst(rest)
            parts.append(DBusSignature(checked: String(rest[..<end])))
            rest = rest[end...]
        }
        return parts
    }

    /// Returns the end of the first complete type. An `a` belongs to the type after it, and an opening bracket to
    /// everything up to the closing one.
    private static func endOfFirst(_ text: Substring) -> Substring.Index {
        var index = text.startIndex
        var depth = 0
        while index < text.endIndex {
            let code = text[index]
            index = text.index(after: index)
            switch code {
            case "a": continue
            case "(", "{": depth += 1
            case ")", "}": depth -= 1
            default: break
            }
            if depth == 0 { break }
        }
        return index
    }
}

extension DBusSignature: CustomStringConvertible, ExpressibleByStringLiteral {
    public var description: String { text }

    /// Creates a signature from a literal.
    ///
    /// - Precondition: The literal is a valid signature.
    public init(stringLiteral text: StaticString) {
        guard let signature = DBusSignature("\(text)") else { preconditionFailure("\(text) is not a signature") }
        self = signature
    }
}
