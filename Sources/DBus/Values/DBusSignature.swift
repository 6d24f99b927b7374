internal import CDBus

/// The types of values, as D-Bus writes them: `s` is a string, `a{sv}` a dictionary.
public struct DBusSignature: Sendable, Hashable {
    /// The codes, one after the other.
    public let text: String

    /// A signature of any number of values; nil where `text` is none.
    public init?(_ text: String) {
        guard !text.utf8.contains(0), cdbus_is_signature(text) else { return nil }
        self.text = text
    }

    /// A signature that libdbus has checked, or that is built of such.
    init(checked text: String) { self.text = text }

    /// Of no value at all.
    public static let empty = DBusSignature(checked: "")

    /// The signature of these values, one after the other.
    public init(of values: [DBusValue]) {
        text = values.reduce(into: "") { $0 += $1.signature.text }
    }

    /// The signatures of the single values.
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

    /// - Precondition: The literal is a signature.
    public init(stringLiteral text: StaticString) {
        guard let signature = DBusSignature("\(text)") else { preconditionFailure("\(text) is not a signature") }
        self = signature
    }
}
