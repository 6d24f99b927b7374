internal import CDBus

/// The name of an error that is sent over the bus, such as `org.freedesktop.DBus.Error.ServiceUnknown`.
public struct DBusErrorName: Sendable, Hashable {
    /// The name as a string.
    public let text: String

    /// Creates a name; nil if `text` is not a valid error name.
    public init?(_ text: String) {
        guard !text.utf8.contains(0), cdbus_is_error_name(text) else { return nil }
        self.text = text
    }

    /// Creates a name from a string that libdbus has validated.
    init(checked text: String) { self.text = text }

    /// A failure that no other name describes.
    public static let failed: DBusErrorName = "org.freedesktop.DBus.Error.Failed"
    /// The destination has no owner, and no service can be started for it.
    public static let serviceUnknown: DBusErrorName = "org.freedesktop.DBus.Error.ServiceUnknown"
    /// The bus name has no owner.
    public static let nameHasNoOwner: DBusErrorName = "org.freedesktop.DBus.Error.NameHasNoOwner"
    /// The called program went away, or the bus gave up, before the reply.
    public static let noReply: DBusErrorName = "org.freedesktop.DBus.Error.NoReply"
    /// The bus's policy, or the called program, forbids the operation.
    public static let accessDenied: DBusErrorName = "org.freedesktop.DBus.Error.AccessDenied"
    /// The user could not be authenticated.
    public static let authFailed: DBusErrorName = "org.freedesktop.DBus.Error.AuthFailed"
    /// The arguments of a call are invalid.
    public static let invalidArgs: DBusErrorName = "org.freedesktop.DBus.Error.InvalidArgs"
    /// The interface has no such method.
    public static let unknownMethod: DBusErrorName = "org.freedesktop.DBus.Error.UnknownMethod"
    /// There is no object at the path.
    public static let unknownObject: DBusErrorName = "org.freedesktop.DBus.Error.UnknownObject"
    /// The object has no such interface.
    public static let unknownInterface: DBusErrorName = "org.freedesktop.DBus.Error.UnknownInterface"
    /// The interface has no such property.
    public static let unknownProperty: DBusErrorName = "org.freedesktop.DBus.Error.UnknownProperty"
    /// The property can't be written.
    public static let propertyReadOnly: DBusErrorName = "org.freedesktop.DBus.Error.PropertyReadOnly"
    /// The called program does not support the operation.
    public static let notSupported: DBusErrorName = "org.freedesktop.DBus.Error.NotSupported"
    /// A limit of the bus or of the called program is exceeded.
    public static let limitsExceeded: DBusErrorName = "org.freedesktop.DBus.Error.LimitsExceeded"
}

extension DBusErrorName: CustomStringConvertible, ExpressibleByStringLiteral {
    public var description: String { text }

    /// Creates a name from a literal.
    ///
    /// - Precondition: The literal is a valid error name: at least two words with a dot between them.
    public init(stringLiteral text: StaticString) {
        guard let name = DBusErrorName("\(text)") else { preconditionFailure("\(text) is not an error name") }
        self = name
    }
}
