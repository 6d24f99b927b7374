/// A member of a JSON object.
package struct JSONMember {
    /// The name, as a string in JSON.
    package let nameValue: JSONValue
    /// The value.
    package let value: JSONValue

    /// The name. In a lenient value, a name of invalid Unicode is returned with its escapes as they were written.
    package var name: String { nameValue.text ?? String(decoding: nameBytes, as: UTF8.self) }
    /// The bytes of the name as they were written, without quotes.
    package var nameBytes: ArraySlice<UInt8> { nameValue.bytes.dropFirst().dropLast() }
}
