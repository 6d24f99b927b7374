internal import CDBus

/// A message to send. Owns the message of libdbus.
final class OutgoingMessage {
    let pointer: OpaquePointer

    /// Takes ownership of a message without arguments, and appends the arguments.
    ///
    /// - Throws: ``DBusError`` with ``DBusError/Code/invalidArgument`` or ``DBusError/Code/system``.
    init(_ message: OpaquePointer?, _ arguments: [DBusValue], activity: String) throws(DBusError) {
        guard let message else { throw Self.exhausted(activity) }
        pointer = message
        try ValueCheck.check(arguments, activity: activity)
        guard MessageEncoder.append(arguments, to: message) else { throw Self.exhausted(activity) }
    }

    deinit { cdbus_release(pointer) }

    /// Returns the error for exhausted memory or descriptors.
    static func exhausted(_ activity: String) -> DBusError {
        DBusError(.system, message: "out of memory or file descriptors", activity: activity)
    }
}
