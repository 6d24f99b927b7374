internal import CDBus
internal import Glibc

/// A position in a message's arguments. A cursor decodes only the values that are read.
///
/// ```swift
/// // PropertiesChanged: sa{sv}as
/// guard var changed = message.cursor, changed.next() else { return }
/// changed.forEachProperty { name, value in
///     if name == "Value" { value.withBytes { decoder.append($0) } }
/// }
/// ```
public struct DBusCursor {
    private let message: DBusMessage
    private var iterator: cdbus_iterator

    init(message: DBusMessage, iterator: cdbus_iterator) {
        self.message = message
        self.iterator = iterator
    }

    /// Advances to the next value on the same level.
    ///
    /// - Returns: false if there is no further value.
    public mutating func next() -> Bool { cdbus_next(&iterator) }

    /// The value at the cursor, of any type. The caller owns the descriptors in it.
    public var value: DBusValue {
        var place = iterator
        return MessageDecoder.value(at: &place)
    }

    /// The string or object path at the cursor; nil if the value is of another type.
    public var string: String? { withString { String(cString: $0) } }

    /// Whether the value at the cursor is a string or object path equal to `text`. Creates no string.
    public func isString(_ text: String) -> Bool { withString { DBusMessage.isEqual($0, text) } ?? false }

    private func withString<Value>(_ body: (UnsafePointer<CChar>) -> Value) -> Value? {
        var place = iterator
        let type = cdbus_type(&place)
        guard type == TypeCode.string || type == TypeCode.objectPath else { return nil }
        var text: UnsafePointer<CChar>?
        cdbus_read_basic(&place, &text)
        return text.map(body)
    }

    /// Calls `body` with the bytes of the `ay` at the cursor. The bytes are in the message's memory, and valid only
    /// during the call.
    ///
    /// - Returns: The result of `body`; nil if the value is of another type.
    public func withBytes<Value>(_ body: (UnsafeRawBufferPointer) -> Value) -> Value? {
        var place = iterator
        guard cdbus_type(&place) == TypeCode.array, cdbus_element_type(&place) == TypeCode.byte else { return nil }
        return withExtendedLifetime(message) { body(MessageDecoder.fixedElements(of: &place)) }
    }

    /// A cursor at the first value inside of the array, structure, variant or dictionary entry at this cursor; nil if
    /// the value is not a container, or is empty.
    public var inside: DBusCursor? {
        var place = iterator
        switch cdbus_type(&place) {
        case TypeCode.array, TypeCode.structure, TypeCode.variant, TypeCode.entry: break
        default: return nil
        }
        var inner = cdbus_iterator()
        cdbus_enter(&place, &inner)
        return cdbus_type(&inner) == 0 ? nil : DBusCursor(message: message, iterator: inner)
    }

    /// Calls `body` with each entry of the `a{sv}` at the cursor: with the name, and a cursor inside of the variant.
    /// Does nothing if the value is of another type.
    public func forEachProperty(_ body: (_ name: String, _ value: DBusCursor) -> Void) {
        guard var entry = inside else { return }
        repeat {
            guard let key = entry.inside, let name = key.string else { return }
            var value = key
            if value.next(), let content = value.inside { body(name, content) }
        } while entry.next()
    }
}
