internal import CDBus

/// A message that is built, and freed with this object.
final class OutgoingMessage {
    let pointer: OpaquePointer

    /// Takes over a message without contents, and fills it.
    ///
    /// - Throws: ``DBusError`` with ``DBusError/Code/invalidArgument`` or ``DBusError/Code/system``.
    init(_ message: OpaquePointer?, _ arguments: [DBusValue], activity: String) throws(DBusError) {
        guard let message else { throw Self.exhausted(activity) }
        pointer = message
        try ValueCheck.check(arguments, activity: activity)
        guard MessageEncoder.append(arguments, to: message) else { throw Self.exhausted(activity) }
    }

    deinit { cdbus_release(pointer) }

    static func exhausted(_ activity: String) -> DBusError {
        DBusError(.system, message: "no memory or no descriptor left", activity: activity)
    }
}
