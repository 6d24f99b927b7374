internal import BlueZ

/// A line of ``BLEMemoryFile``.
enum BLEMemoryLine: Equatable {
    /// A name and the address that it led to.
    case device(BluetoothAddress, name: String)
    /// Any other line, which is kept unchanged.
    case other([UInt8])

    /// Reads a line without its end: an address, a space, and a name.
    init(_ bytes: some Collection<UInt8>) {
        let bytes = Array(bytes)
        // An address has 17 characters, so the name begins at index 18.
        if bytes.count > 18, bytes[17] == UInt8(ascii: " "), let text = String(validating: bytes, as: UTF8.self),
            let address = BluetoothAddress(String(decoding: bytes[..<17], as: UTF8.self))
        {
            self = .device(address, name: Self.unescaped(text.unicodeScalars.dropFirst(18)))
        } else {
            self = .other(bytes)
        }
    }

    /// The bytes of the line in the file, without the line end.
    var bytes: [UInt8] {
        switch self {
        case .device(let address, let name): Array("\(address) \(Self.escaped(name))".utf8)
        case .other(let bytes): bytes
        }
    }

    /// Whether the line stores `name`, in any letter case.
    func isOf(_ name: String) -> Bool {
        guard case .device(_, let own) = self else { return false }
        return own.lowercased() == name.lowercased()
    }

    /// Escapes backslashes and line feeds, because a BLE name may contain any character.
    private static func escaped(_ name: String) -> String {
        var text = ""
        for scalar in name.unicodeScalars {
            switch scalar {
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text
    }

    private static func unescaped(_ text: some Sequence<Unicode.Scalar>) -> String {
        var name = ""
        var isEscaped = false
        for scalar in text {
            if !isEscaped, scalar == "\\" {
                isEscaped = true
                continue
            }
            name.unicodeScalars.append(isEscaped && scalar == "n" ? "\n" : scalar)
            isEscaped = false
        }
        return name
    }
}
