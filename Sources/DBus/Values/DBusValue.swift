/// A value of a D-Bus type.
///
/// The cases have the names of the D-Bus specification. A received array of bytes is a ``bytes(_:)``, at the cost of
/// one copy. To send, an ``array(of:_:)`` of `y` may be used as well: it is the same on the wire.
public enum DBusValue: Sendable, Hashable {
    /// An unsigned 8-bit integer, `y`.
    case byte(UInt8)
    /// A Boolean value, `b`.
    case boolean(Bool)
    /// A signed 16-bit integer, `n`.
    case int16(Int16)
    /// An unsigned 16-bit integer, `q`.
    case uint16(UInt16)
    /// A signed 32-bit integer, `i`.
    case int32(Int32)
    /// An unsigned 32-bit integer, `u`.
    case uint32(UInt32)
    /// A signed 64-bit integer, `x`.
    case int64(Int64)
    /// An unsigned 64-bit integer, `t`.
    case uint64(UInt64)
    /// A floating-point number, `d`.
    case double(Double)
    /// Text without NUL characters, `s`.
    case string(String)
    /// The path of an object, `o`.
    case objectPath(ObjectPath)
    /// A signature, `g`.
    case signature(DBusSignature)
    /// An array of bytes, `ay`.
    case bytes([UInt8])
    /// An array of values of one type, which the signature names.
    case array(of: DBusSignature, [DBusValue])
    /// A structure of at least one value. The values can have different types.
    case structure([DBusValue])
    /// A dictionary, an array of entries.
    indirect case dictionary(DBusDictionary)
    /// A value together with its type, `v`.
    indirect case variant(DBusValue)
    /// A file descriptor, `h`. A message carries a copy.
    case unixFD(OwnedDescriptor)
}

extension DBusValue {
    /// Creates an `as`.
    public static func strings(_ strings: [String]) -> DBusValue { .array(of: "s", strings.map { .string($0) }) }

    /// Creates an `ao`.
    public static func objectPaths(_ paths: [ObjectPath]) -> DBusValue {
        .array(of: "o", paths.map { .objectPath($0) })
    }

    /// Creates an `a{sv}`: each value is in a variant.
    public static func properties(_ properties: [String: DBusValue]) -> DBusValue {
        .dictionary(DBusDictionary(properties: properties))
    }

    /// The type of the value.
    public var signature: DBusSignature {
        switch self {
        case .byte: DBusSignature(checked: "y")
        case .boolean: DBusSignature(checked: "b")
        case .int16: DBusSignature(checked: "n")
        case .uint16: DBusSignature(checked: "q")
        case .int32: DBusSignature(checked: "i")
        case .uint32: DBusSignature(checked: "u")
        case .int64: DBusSignature(checked: "x")
        case .uint64: DBusSignature(checked: "t")
        case .double: DBusSignature(checked: "d")
        case .string: DBusSignature(checked: "s")
        case .objectPath: DBusSignature(checked: "o")
        case .signature: DBusSignature(checked: "g")
        case .bytes: DBusSignature(checked: "ay")
        case .array(let element, _): DBusSignature(checked: "a" + element.text)
        case .structure(let fields): DBusSignature(checked: "(" + DBusSignature(of: fields).text + ")")
        case .dictionary(let dictionary):
            DBusSignature(checked: "a{" + dictionary.keys.text + dictionary.values.text + "}")
        case .variant: DBusSignature(checked: "v")
        case .unixFD: DBusSignature(checked: "h")
        }
    }
}
