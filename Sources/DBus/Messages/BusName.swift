internal import CDBus

/// The kinds of names in messages, and the well-known names of the bus and of the standard interfaces.
enum BusName {
    case busName
    case interface
    case member

    static let bus = "org.freedesktop.DBus"
    static let busPath: ObjectPath = "/org/freedesktop/DBus"
    /// The interface of the signals that libdbus itself makes.
    static let local = "org.freedesktop.DBus.Local"
    static let properties = "org.freedesktop.DBus.Properties"
    static let introspectable = "org.freedesktop.DBus.Introspectable"
    static let objectManager = "org.freedesktop.DBus.ObjectManager"
    static let peer = "org.freedesktop.DBus.Peer"

    /// Validates a name.
    ///
    /// - Throws: ``DBusError`` with ``DBusError/Code/invalidArgument`` if `name` is not a valid name of the kind.
    static func check(_ name: String, _ kind: BusName, activity: String) throws(DBusError) {
        let isValid =
            switch kind {
            case .busName: cdbus_is_bus_name(name)
            case .interface: cdbus_is_interface(name)
            case .member: cdbus_is_member(name)
            }
        guard isValid, !name.utf8.contains(0) else {
            throw DBusError(.invalidArgument, message: "invalid name \"\(name)\"", activity: activity)
        }
    }
}
