import DBus

/// Random values of all types except descriptors. The same seed gives the same values.
struct RandomValues {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    /// The next number of the generator SplitMix64.
    private mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    private mutating func number(below bound: Int) -> Int { Int(next() >> 33) % bound }

    /// Returns a value of a random type.
    mutating func value() -> DBusValue { value(of: signature(depth: 0)) }

    /// Returns a random signature. Numbers from 13 on give variants and containers. Containers are nested at most four
    /// deep, so that the values stay small; only a variant may hold a further container.
    private mutating func signature(depth: Int) -> String {
        switch number(below: depth < 4 ? 18 : 13) {
        case 13: return "v"
        case 14, 15: return "a" + signature(depth: depth + 1)
        case 16: return "(" + (0...number(below: 3)).map { _ in signature(depth: depth + 1) }.joined() + ")"
        case 17: return "a{" + basicSignature() + signature(depth: depth + 1) + "}"
        default: return basicSignature()
        }
    }

    private mutating func basicSignature() -> String { String(Array("ybnqiuxtdsog")[number(below: 12)]) }

    private mutating func value(of signature: String) -> DBusValue {
        let bits = next()
        switch signature {
        case "y": return .byte(UInt8(truncatingIfNeeded: bits))
        case "b": return .boolean(bits & 1 == 0)
        case "n": return .int16(Int16(truncatingIfNeeded: bits))
        case "q": return .uint16(UInt16(truncatingIfNeeded: bits))
        case "i": return .int32(Int32(truncatingIfNeeded: bits))
        case "u": return .uint32(UInt32(truncatingIfNeeded: bits))
        case "x": return .int64(Int64(bitPattern: bits))
        case "t": return .uint64(bits)
        // Never NaN, which equals no value.
        case "d": return .double(Double(Int64(bitPattern: bits)) / 1024)
        case "s": return .string(String((0..<number(below: 40)).map { _ in "aZ0 'ßπ🙂\n"[number(below: 9)] }))
        case "o": return .objectPath(["/", "/a", "/org/bluez/hci0/dev_00_11"][number(below: 3)])
        case "g": return .signature(["", "s", "a{sv}", "(iv)ay"][number(below: 4)])
        case "v": return .variant(value(of: self.signature(depth: 3)))
        case "ay": return .bytes((0..<number(below: 600)).map { _ in UInt8(truncatingIfNeeded: next()) })
        default: return container(of: signature)
        }
    }

    private mutating func container(of signature: String) -> DBusValue {
        guard let whole = DBusSignature(signature) else { preconditionFailure("made of valid parts") }
        if signature.hasPrefix("(") {
            let fields = DBusSignature(String(signature.dropFirst().dropLast()))
            return .structure((fields?.parts ?? []).map { value(of: $0.text) })
        }
        let count = number(below: 4)
        if signature.hasPrefix("a{") {
            let key = String(signature.dropFirst(2).prefix(1))
            let content = String(whole.text.dropFirst(3).dropLast())
            return .dictionary(
                DBusDictionary(
                    keys: DBusSignature(key) ?? "s", values: DBusSignature(content) ?? "s",
                    (0..<count).map { _ in .init(value(of: key), value(of: content)) }))
        }
        let element = String(signature.dropFirst())
        return .array(of: DBusSignature(element) ?? "s", (0..<count).map { _ in value(of: element) })
    }
}

extension String {
    fileprivate subscript(position: Int) -> Character { self[index(startIndex, offsetBy: position)] }
}
