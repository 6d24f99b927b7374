internal import CDBus
internal import Glibc

/// A message that has arrived, as it lies in libdbus's memory; decoded as far as it is asked.
///
/// It is not `Sendable`: what is to leave the loop's thread is taken out as values.
public final class DBusMessage {
    private let message: OpaquePointer
    let header: cdbus_header

    /// Takes over a message.
    init(taking message: OpaquePointer) {
        self.message = message
        var header = cdbus_header()
        cdbus_read_header(message, &header)
        self.header = header
    }

    deinit { cdbus_release(message) }

    /// Who sent it: a unique name, or `org.freedesktop.DBus`.
    public var sender: String? { header.sender.map { String(cString: $0) } }
    /// The object that a signal comes from, or a call goes to.
    public var path: ObjectPath? { header.path.map { ObjectPath(checked: String(cString: $0)) } }
    public var interface: String? { header.interface.map { String(cString: $0) } }
    public var member: String? { header.member.map { String(cString: $0) } }
    /// The types of the arguments.
    public var signature: DBusSignature {
        header.signature.map { DBusSignature(checked: String(cString: $0)) } ?? .empty
    }

    /// Whether the message is of this interface and member, without making strings of them.
    public func isFrom(_ interface: String, _ member: String) -> Bool {
        Self.isEqual(header.member, member) && Self.isEqual(header.interface, interface)
    }

    /// Whether the message is of this object, without making a string of its path.
    public func isFrom(_ path: ObjectPath) -> Bool { Self.isEqual(header.path, path.text) }

    /// All arguments. Descriptors in them are the caller's from now on.
    public var arguments: [DBusValue] {
        guard var cursor else { return [] }
        var values: [DBusValue] = []
        repeat { values.append(cursor.value) } while cursor.next()
        return values
    }

    /// At the first argument; nil if there is none.
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
