internal import CDBus
internal import Glibc

/// Decodes the values of a received message, which libdbus has validated.
enum MessageDecoder {
    static func value(at place: inout cdbus_iterator) -> DBusValue {
        switch cdbus_type(&place) {
        case TypeCode.byte: .byte(number(at: &place))
        case TypeCode.boolean: .boolean(number(at: &place) as UInt32 != 0)
        case TypeCode.int16: .int16(number(at: &place))
        case TypeCode.uint16: .uint16(number(at: &place))
        case TypeCode.int32: .int32(number(at: &place))
        case TypeCode.uint32: .uint32(number(at: &place))
        case TypeCode.int64: .int64(number(at: &place))
        case TypeCode.uint64: .uint64(number(at: &place))
        case TypeCode.double: .double(Double(bitPattern: number(at: &place)))
        case TypeCode.string: .string(text(at: &place))
        case TypeCode.objectPath: .objectPath(ObjectPath(checked: text(at: &place)))
        case TypeCode.signature: .signature(DBusSignature(checked: text(at: &place)))
        case TypeCode.unixFD: .unixFD(OwnedDescriptor(taking: number(at: &place)))
        case TypeCode.variant: .variant(values(in: &place).first ?? .structure([]))
        case TypeCode.array: array(at: &place)
        default: .structure(values(in: &place))
        }
    }

    /// Returns the elements of an array of numbers, in the message's memory. `size` is the size of an element in bytes.
    static func fixedElements(of place: inout cdbus_iterator, size: Int = 1) -> UnsafeRawBufferPointer {
        var elements: UnsafeRawPointer?
        var count: CInt = 0
        cdbus_read_fixed(&place, &elements, &count)
        return UnsafeRawBufferPointer(start: elements, count: Int(count) * size)
    }

    private static func number<Number: FixedWidthInteger>(at place: inout cdbus_iterator) -> Number {
        var number: Number = 0
        cdbus_read_basic(&place, &number)
        return number
    }

    private static func text(at place: inout cdbus_iterator) -> String {
        var text: UnsafePointer<CChar>?
        cdbus_read_basic(&place, &text)
        return text.map { String(cString: $0) } ?? ""
    }

    private static func values(in place: inout cdbus_iterator) -> [DBusValue] {
        var inner = cdbus_iterator()
        cdbus_enter(&place, &inner)
        var values: [DBusValue] = []
        while cdbus_type(&inner) != 0 {
            values.append(value(at: &inner))
            _ = cdbus_next(&inner)
        }
        return values
    }

    private static func array(at place: inout cdbus_iterator) -> DBusValue {
        switch cdbus_element_type(&place) {
        case TypeCode.byte: return .bytes(Array(fixedElements(of: &place)))
        case TypeCode.int16: return numbers(at: &place, "n") { .int16($0) }
        case TypeCode.uint16: return numbers(at: &place, "q") { .uint16($0) }
        case TypeCode.int32: return numbers(at: &place, "i") { .int32($0) }
        case TypeCode.uint32: return numbers(at: &place, "u") { .uint32($0) }
        case TypeCode.int64: return numbers(at: &place, "x") { .int64($0) }
        case TypeCode.uint64: return numbers(at: &place, "t") { .uint64($0) }
        case TypeCode.double: return numbers(at: &place, "d") { .double(Double(bitPattern: $0)) }
        case TypeCode.string: return .array(of: DBusSignature(checked: "s"), values(in: &place))
        case TypeCode.objectPath: return .array(of: DBusSignature(checked: "o"), values(in: &place))
        case TypeCode.entry: return .dictionary(dictionary(at: &place))
        default: return .array(of: elementSignature(at: &place), values(in: &place))
        }
    }

    private static func numbers<Number: FixedWidthInteger>(
        at place: inout cdbus_iterator, _ signature: String, _ make: (Number) -> DBusValue
    ) -> DBusValue {
        let elements = fixedElements(of: &place, size: MemoryLayout<Number>.size).bindMemory(to: Number.self)
        return .array(of: DBusSignature(checked: signature), elements.map(make))
    }

    private static func dictionary(at place: inout cdbus_iterator) -> DBusDictionary {
        // The element's signature is in braces: one letter for the key's type, then the value's type.
        let types = elementSignature(at: &place).text.dropFirst().dropLast()
        var entries: [DBusDictionary.Entry] = []
        var inner = cdbus_iterator()
        cdbus_enter(&place, &inner)
        while cdbus_type(&inner) != 0 {
            var pair = cdbus_iterator()
            cdbus_enter(&inner, &pair)
            let key = value(at: &pair)
            _ = cdbus_next(&pair)
            entries.append(DBusDictionary.Entry(key, value(at: &pair)))
            _ = cdbus_next(&inner)
        }
        return DBusDictionary(
            keys: DBusSignature(checked: String(types.prefix(1))),
            values: DBusSignature(checked: String(types.dropFirst())), entries)
    }

    private static func elementSignature(at place: inout cdbus_iterator) -> DBusSignature {
        guard let text = cdbus_signature(&place) else { return .empty }
        defer { cdbus_free(text) }
        // The signature of the array begins with `a`; the rest is that of an element.
        return DBusSignature(checked: String(cString: text + 1))
    }
}
