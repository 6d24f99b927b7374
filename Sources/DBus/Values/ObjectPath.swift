internal import CDBus

/// The path of an object, such as `/org/bluez/hci0`.
public struct ObjectPath: Sendable, Hashable {
    /// The path as a string.
    public let text: String

    /// The path above all others, `/`.
    public static let root: ObjectPath = "/"

    /// Creates a path; nil if `text` is not a valid path. A path begins with a slash; its elements consist of letters,
    /// digits and underscores, with one slash between them.
    public init?(_ text: String) {
        guard !text.utf8.contains(0), cdbus_is_path(text) else { return nil }
        self.text = text
    }

    /// Creates a path from a string that libdbus has validated.
    init(checked text: String) { self.text = text }

    /// Whether the path is `ancestor` or below it.
    public func isWithin(_ ancestor: ObjectPath) -> Bool {
        if ancestor == .root { return true }
        guard text.utf8.starts(with: ancestor.text.utf8) else { return false }
        let rest = text.utf8.dropFirst(ancestor.text.utf8.count)
        return rest.isEmpty || rest.first == UInt8(ascii: "/")
    }

    /// The path one level up; nil for ``root``.
    public var parent: ObjectPath? {
        guard self != .root, let slash = text.lastIndex(of: "/") else { return nil }
        return slash == text.startIndex ? .root : ObjectPath(checked: String(text[..<slash]))
    }

    /// Returns the path of a child; nil if the result is not a valid path: `name` consists of letters, digits and
    /// underscores.
    public func appending(_ name: String) -> ObjectPath? {
        ObjectPath(self == .root ? "/\(name)" : "\(text)/\(name)")
    }
}

extension ObjectPath: CustomStringConvertible, ExpressibleByStringLiteral {
    public var description: String { text }

    /// Creates a path from a literal.
    ///
    /// - Precondition: The literal is a valid path.
    public init(stringLiteral text: StaticString) {
        guard let path = ObjectPath("\(text)") else { preconditionFailure("\(text) is not an object path") }
        self = path
    }
}
