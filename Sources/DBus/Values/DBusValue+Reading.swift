/// Reading a value of which the type is known: nil where it is another.
///
/// A variant is read through, so that a property is read alike in a variant and without.
extension DBusValue {
    /// The value, or what is in the variant, however deep.
    public var withoutVariant: DBusValue {
        var value = self
        while case .variant(let inner) = value { value = inner }
        return value
    }

    public var byte: UInt8? { if case .byte(let value) = withoutVariant { value } else { nil } }
    public var boolean: Bool? { if case .boolean(let value) = withoutVariant { value } else { nil } }
    public var int16: Int16? { if case .int16(let value) = withoutVariant { value } else { nil } }
    public var uint16: UInt16? { if case .uint16(let value) = withoutVariant { value } else { nil } }
    public var int32: Int32? { if case .int32(let value) = withoutVariant { value } else { nil } }
    public var uint32: UInt32? { if case .uint32(let value) = withoutVariant { value } else { nil } }
    public var int64: Int64? { if case .int64(let value) = withoutVariant { value } else { nil } }
    public var uint64: UInt64? { if case .uint64(let value) = withoutVariant { value } else { nil } }
    public var double: Double? { if case .double(let value) = withoutVariant { value } else { nil } }
    public var string: String? { if case .string(let value) = withoutVariant { value } else { nil } }
    public var objectPath: ObjectPath? { if case .objectPath(let value) = withoutVariant { value } else { nil } }
    public var unixFD: OwnedDescriptor? { if case .unixFD(let value) = withoutVariant { value } else { nil } }
    public var structure: [DBusValue]? { if case .structure(let value) = withoutVariant { value } else { nil } }
    public var dictionary: DBusDictionary? { if case .dictionary(let value) = withoutVariant { value } else { nil } }

    /// Any of the whole numbers.
    public var integer: Int? {
        switch withoutVariant {
        case .byte(let value): Int(value)
        case .int16(let value): Int(value)
        case .uint16(let value): Int(value)
        case .int32(let value): Int(value)
        case .uint32(let value): Int(value)
        case .int64(let value): Int(exactly: value)
        case .uint64(let value): Int(exactly: value)
        default: nil
        }
    }

    /// `ay`.
    public var bytes: [UInt8]? {
        switch withoutVariant {
        case .bytes(let bytes): return bytes
        case .array(let element, let elements) where element.text == "y":
            let bytes = elements.compactMap(\.byte)
            return bytes.count == elements.count ? bytes : nil
        default: return nil
        }
    }

    /// The elements of an array, but `ay`'s, which are ``bytes``.
    public var array: [DBusValue]? { if case .array(_, let elements) = withoutVariant { elements } else { nil } }

    /// `as`.
    public var strings: [String]? {
        guard case .array(let element, let elements) = withoutVariant, element.text == "s" else { return nil }
        return elements.compactMap(\.string)
    }

    /// `ao`.
    public var objectPaths: [ObjectPath]? {
        guard case .array(let element, let elements) = withoutVariant, element.text == "o" else { return nil }
        return elements.compactMap(\.objectPath)
    }

    /// `a{sv}`, without the variants; any dictionary that has strings for keys.
    public var properties: [String: DBusValue]? { dictionary?.properties }
}
