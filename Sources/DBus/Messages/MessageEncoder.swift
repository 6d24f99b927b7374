internal import CDBus

/// Appends values to a message. ``ValueCheck`` must have accepted them.
enum MessageEncoder {
    /// Appends all values.
    ///
    /// - Returns: false if memory or descriptors are exhausted.
    static func append(_ values: [DBusValue], to message: OpaquePointer) -> Bool {
        guard !values.isEmpty else { return true }
        var place = cdbus_iterator()
        cdbus_begin_writing(message, &place)
        return values.allSatisfy { append($0, at: &place) }
    }

    private static func append(_ value: DBusValue, at place: inout cdbus_iterator) -> Bool {
        switch value {
        case .byte(let number): append(number, TypeCode.byte, at: &place)
        case .boolean(let isTrue): append(isTrue ? 1 : 0 as UInt32, TypeCode.boolean, at: &place)
        case .int16(let number): append(number, TypeCode.int16, at: &place)
        case .uint16(let number): append(number, TypeCode.uint16, at: &place)
        case .int32(let number): append(number, TypeCode.int32, at: &place)
        case .uint32(let number): append(number, TypeCode.uint32, at: &place)
        case .int64(let number): append(number, TypeCode.int64, at: &place)
        case .uint64(let number): append(number, TypeCode.uint64, at: &place)
        case .double(let number): append(number.bitPattern, TypeCode.double, at: &place)
        case .string(let text): append(text, TypeCode.string, at: &place)
        case .objectPath(let path): append(path.text, TypeCode.objectPath, at: &place)
        case .signature(let signature): append(signature.text, TypeCode.signature, at: &place)
        case .unixFD(let descriptor): append(descriptor.number, TypeCode.unixFD, at: &place)
        case .bytes(let bytes):
            fill(TypeCode.array, "y", at: &place) { cdbus_write_bytes(&$0, bytes, CInt(bytes.count)) }
        case .array(let element, let elements):
            fill(TypeCode.array, element.text, at: &place) { inner in
                elements.allSatisfy { append($0, at: &inner) }
            }
        case .structure(let fields):
            fill(TypeCode.structure, nil, at: &place) { inner in fields.allSatisfy { append($0, at: &inner) } }
        case .variant(let content):
            fill(TypeCode.variant, content.signature.text, at: &place) { append(content, at: &$0) }
        case .dictionary(let dictionary):
            fill(TypeCode.array, "{\(dictionary.keys.text)\(dictionary.values.text)}", at: &place) { inner in
                dictionary.entries.allSatisfy { entry in
                    fill(TypeCode.entry, nil, at: &inner) {
                        append(entry.key, at: &$0) && append(entry.value, at: &$0)
                    }
                }
            }
        }
    }

    private static func append(
        _ number: some FixedWidthInteger, _ type: CInt, at place: inout cdbus_iterator
    ) -> Bool {
        withUnsafeBytes(of: number) { cdbus_write_basic(&place, type, $0.baseAddress) }
    }

    private static func append(_ text: String, _ type: CInt, at place: inout cdbus_iterator) -> Bool {
        text.withCString { text in
            withUnsafeBytes(of: text) { cdbus_write_basic(&place, type, $0.baseAddress) }
        }
    }

    /// Appends a container of this type, whose contents `body` appends. `contents` is the signature of the contents of
    /// an array or a variant.
    private static func fill(
        _ type: CInt, _ contents: String?, at place: inout cdbus_iterator, _ body: (inout cdbus_iterator) -> Bool
    ) -> Bool {
        var inner = cdbus_iterator()
        guard cdbus_open_container(&place, type, contents, &inner) else { return false }
        guard body(&inner) else {
            cdbus_abandon_container(&place, &inner)
            return false
        }
        return cdbus_close_container(&place, &inner)
    }
}
