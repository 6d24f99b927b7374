internal import CDBus
internal import Glibc

/// A received message in libdbus's memory, decoded on demand.
///
/// The class is not `Sendable`: read the values on the loop's thread, and pass only these to other threads.
public final class DBusMessage {
    private let message: OpaquePointer
    let header: cdbus_header

    /// Takes ownership of a message.
    init(taking message: OpaquePointer) {
        self.message = message
        var header = cdbus_header()
        cdbus_read_header(message, &header)
        self.header = header
    }

    deinit { cdbus_release(message) }

    /// The unique name of the sender, or `org.freedesktop.DBus` for the bus; nil if the message has no sender.
    public var sender: String? { header.sender.map { String(cString: $0) } }
    /// The object that sent a signal, or that a call is for; nil for a reply.
    public var path: ObjectPath? { header.path.map { ObjectPath(checked: String(cString: $0)) } }
    /// The interface of the signal or method; nil if the message names none.
    public var interface: String? { header.interface.map { String(cString: $0) } }
    /// The name of the signal or method; nil for a reply.
    public var member: String? { header.member.map { String(cString: $0) } }
    /// The types of the arguments.
    public var signature: DBusSignature {
        header.signature.map { DBusSignature(checked: String(cString: $0)) } ?? .empty
    }

    /// Whether the message has this interface and member. Creates no strings.
    public func isFrom(_ interface: String, _ member: String) -> Bool {
        Self.isEqual(header.member, member) && Self.isEqual(header.interface, interface)
    }

    /// Whether the message has this object path. Creates no string.
    public func isFrom(_ path: ObjectPath) -> Bool { Self.isEqual(header.path, path.text) }

    /// All arguments. The caller owns the descriptors in them.
    public var arguments: [DBusValue] {
        guard var cursor else { return [] }
        var values: [DBusValue] = []
        repeat { values.append(cursor.value) } while cursor.next()
        return values
    }

    /// A cursor at the first argument; nil if there are no arguments.
    public var cursor: DBusCursor? {
        var iterator = cdbus_iterator()
        guard cdbus_begin_reading(message, &iterator) else { return nil }
        return DBusCursor(message: self, iterator: iterator)
    }

    static func isEqual(_ text: UnsafePointer<CChar>?, _ other: String) -> Bool {
        guard let text else { return false }
        return other.withCString { strcmp(text, $0) == 0 }
    }
}
