internal import CDBus

/// Where an object is, as `/org/bluez/hci0`.
public struct ObjectPath: Sendable, Hashable {
    /// The path as it is written.
    public let text: String

    /// The path that all others are below.
    public static let root: ObjectPath = "/"

    /// A path; nil where `text` is none: it begins with a slash, and between the slashes are letters, digits and
    /// underscores.
    public init?(_ text: String) {
        guard !text.utf8.contains(0), cdbus_is_path(text) else { return nil }
        self.text = text
    }

    /// A path that libdbus has checked.
    init(checked text: String) { self.text = text }

    /// Whether the path is `ancestor`, or below it.
    public func isWithin(_ ancestor: ObjectPath) -> Bool {
        if ancestor == .root { return true }
        guard text.utf8.starts(with: ancestor.text.utf8) else { return false }
        let rest = text.utf8.dropFirst(ancestor.text.utf8.count)
        return rest.isEmpty || rest.first == UInt8(ascii: "/")
    }

    /// The path one step up; nil for ``root``.
    public var parent: ObjectPath? {
        guard self != .root, let slash = text.lastIndex(of: "/") else { return nil }
        return slash == text.startIndex ? .root : ObjectPath(checked: String(text[..<slash]))
    }

    /// The path of a child; nil where `name` has other characters than letters, digits and underscores.
    public func appending(_ name: String) -> ObjectPath? {
        ObjectPath(self == .root ? "/\(name)" : "\(text)/\(name)")
    }
}

extension ObjectPath: CustomStringConvertible, ExpressibleByStringLiteral {
    public var description: String { text }

    /// - Precondition: The literal is a path.
    public init(stringLiteral text: StaticString) {
        guard let path = ObjectPath("\(text)") else { preconditionFailure("\(text) is not an object path") }
        self = path
    }
}
