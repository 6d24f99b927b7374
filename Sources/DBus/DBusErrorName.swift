internal import CDBus

/// The name of an error that goes over the bus, as `org.freedesktop.DBus.Error.ServiceUnknown`.
public struct DBusErrorName: Sendable, Hashable {
    public let text: String

    /// A name; nil where `text` is none.
    public init?(_ text: String) {
        guard !text.utf8.contains(0), cdbus_is_error_name(text) else { return nil }
        self.text = text
    }

    init(checked text: String) { self.text = text }

    /// Something went wrong, and no other name says what.
    public static let failed: DBusErrorName = "org.freedesktop.DBus.Error.Failed"
    /// Nobody has the name, and nobody can be started for it.
    public static let serviceUnknown: DBusErrorName = "org.freedesktop.DBus.Error.ServiceUnknown"
    /// Nobody has the name.
    public static let nameHasNoOwner: DBusErrorName = "org.freedesktop.DBus.Error.NameHasNoOwner"
    /// The peer went away, or the bus gave up, before it answered.
    public static let noReply: DBusErrorName = "org.freedesktop.DBus.Error.NoReply"
    /// The bus's policy, or the peer, forbids it.
    public static let accessDenied: DBusErrorName = "org.freedesktop.DBus.Error.AccessDenied"
    /// The user has not been authorized.
    public static let authFailed: DBusErrorName = "org.freedesktop.DBus.Error.AuthFailed"
    public static let invalidArgs: DBusErrorName = "org.freedesktop.DBus.Error.InvalidArgs"
    public static let unknownMethod: DBusErrorName = "org.freedesktop.DBus.Error.UnknownMethod"
    public static let unknownObject: DBusErrorName = "org.freedesktop.DBus.Error.UnknownObject"
    public static let unknownInterface: DBusErrorName = "org.freedesktop.DBus.Error.UnknownInterface"
    public static let unknownProperty: DBusErrorName = "org.freedesktop.DBus.Error.UnknownProperty"
    public static let propertyReadOnly: DBusErrorName = "org.freedesktop.DBus.Error.PropertyReadOnly"
    public static let notSupported: DBusErrorName = "org.freedesktop.DBus.Error.NotSupported"
    public static let limitsExceeded: DBusErrorName = "org.freedesktop.DBus.Error.LimitsExceeded"
}

extension DBusErrorName: CustomStringConvertible, ExpressibleByStringLiteral {
    public var description: String { text }

    /// - Precondition: The literal is an error's name: at least two words with a dot between them.
    public init(stringLiteral text: StaticString) {
        guard let name = DBusErrorName("\(text)") else { preconditionFailure("\(text) is not an error name") }
        self = name
    }
}
