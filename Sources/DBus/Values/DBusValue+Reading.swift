/// Accessors for values of an expected type; nil if the value is of another type.
///
/// The accessors unwrap variants: a property reads the same inside of a variant and outside.
extension DBusValue {
    /// The value without the variants around it.
    public var withoutVariant: DBusValue {
        var value = self
        while case .variant(let inner) = value { value = inner }
        return value
    }

    /// The value of a `y`.
    public var byte: UInt8? { if case .byte(let value) = withoutVariant { value } else { nil } }
    /// The value of a `b`.
    public var boolean: Bool? { if case .boolean(let value) = withoutVariant { value } else { nil } }
    /// The value of an `n`.
    public var int16: Int16? { if case .int16(let value) = withoutVariant { value } else { nil } }
    /// The value of a `q`.
    public var uint16: UInt16? { if case .uint16(let value) = withoutVariant { value } else { nil } }
    /// The value of an `i`.
    public var int32: Int32? { if case .int32(let value) = withoutVariant { value } else { nil } }
    /// The value of a `u`.
    public var uint32: UInt32? { if case .uint32(let value) = withoutVariant { value } else { nil } }
    /// The value of an `x`.
    public var int64: Int64? { if case .int64(let value) = withoutVariant { value } else { nil } }
    /// The value of a `t`.
    public var uint64: UInt64? { if case .uint64(let value) = withoutVariant { value } else { nil } }
    /// The value of a `d`.
    public var double: Double? { if case .double(let value) = withoutVariant { value } else { nil } }
    /// The value of an `s`.
    public var string: String? { if case .string(let value) = withoutVariant { value } else { nil } }
    /// The value of an `o`.
    public var objectPath: ObjectPath? { if case .objectPath(let value) = withoutVariant { value } else { nil } }
    /// The descriptor of an `h`.
    public var unixFD: OwnedDescriptor? { if case .unixFD(let value) = withoutVariant { value } else { nil } }
    /// The fields of a structure.
    public var structure: [DBusValue]? { if case .structure(let value) = withoutVariant { value } else { nil } }
    /// The dictionary, of any types.
    public var dictionary: DBusDictionary? { if case .dictionary(let value) = withoutVariant { value } else { nil } }

    /// The value of an integer type of any width; nil for another type, or if the value does not fit into `Int`.
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

    /// The bytes of an `ay`.
    public var bytes: [UInt8]? {
        switch withoutVariant {
        case .bytes(let bytes): return bytes
        case .array(let element, let elements) where element.text == "y":
            let bytes = elements.compactMap(\.byte)
            return bytes.count == elements.count ? bytes : nil
        default: return nil
        }
    }

    /// The elements of an array. For ``DBusValue/bytes(_:)`` this is nil: use ``bytes``.
    public var array: [DBusValue]? { if case .array(_, let elements) = withoutVariant { elements } else { nil } }

    /// The elements of an `as`.
    public var strings: [String]? {
        guard case .array(let element, let elements) = withoutVariant, element.text == "s" else { return nil }
        return elements.compactMap(\.string)
    }

    /// The elements of an `ao`.
    public var objectPaths: [ObjectPath]? {
        guard case .array(let element, let elements) = withoutVariant, element.text == "o" else { return nil }
        return elements.compactMap(\.objectPath)
    }

    /// The values of an `a{sv}`, or of another dictionary with strings as keys, by name and without variants.
    public var properties: [String: DBusValue]? { dictionary?.properties }
}
