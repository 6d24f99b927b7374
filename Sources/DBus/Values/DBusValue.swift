/// A value of one of D-Bus's types.
///
/// The names are those of the D-Bus specification. An array of bytes is ``bytes(_:)``, which costs one copy; one that
/// is written as ``array(of:_:)`` of `y` is sent as the same.
public enum DBusValue: Sendable, Hashable {
    case byte(UInt8)
    case boolean(Bool)
    case int16(Int16)
    case uint16(UInt16)
    case int32(Int32)
    case uint32(UInt32)
    case int64(Int64)
    case uint64(UInt64)
    case double(Double)
    /// Text without the character NUL.
    case string(String)
    case objectPath(ObjectPath)
    case signature(DBusSignature)
    /// `ay`.
    case bytes([UInt8])
    /// Values of the one type that the signature names.
    case array(of: DBusSignature, [DBusValue])
    /// At least one value, of any types.
    case structure([DBusValue])
    indirect case dictionary(DBusDictionary)
    /// A value that brings its type along.
    indirect case variant(DBusValue)
    /// A file descriptor; the message carries a copy.
    case unixFD(OwnedDescriptor)
}

extension DBusValue {
    /// `as`.
    public static func strings(_ strings: [String]) -> DBusValue { .array(of: "s", strings.map { .string($0) }) }

    /// `ao`.
    public static func objectPaths(_ paths: [ObjectPath]) -> DBusValue {
        .array(of: "o", paths.map { .objectPath($0) })
    }

    /// `a{sv}`: each value in a variant of its own type.
    public static func properties(_ properties: [String: DBusValue]) -> DBusValue {
        .dictionary(DBusDictionary(properties: properties))
    }

    /// The value's type.
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
