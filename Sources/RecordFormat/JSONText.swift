extension Substring {
    /// The fields, which tabs separate.
    var fields: [Substring] {
        utf8.split(separator: UInt8(ascii: "\t"), omittingEmptySubsequences: false).map { Substring($0) }
    }
}

extension [UInt8] {
    /// Appends text as a JSON string, as ``JSONText/quoted(_:)`` returns it.
    mutating func append(quoting text: String) {
        let (quote, backslash) = (UInt8(ascii: "\""), UInt8(ascii: "\\"))
        append(quote)
        var text = text
        text.withUTF8 { bytes in
            if !bytes.contains(where: { $0 < 0x20 || $0 == quote || $0 == backslash }) {
                return append(contentsOf: bytes)
            }
            for byte in bytes {
                switch byte {
                case quote, backslash: self += [backslash, byte]
                case ..<0x20: self += "\\u00\(byte < 0x10 ? "0" : "")\(String(byte, radix: 16))".utf8
                default: append(byte)
                }
            }
        }
        append(quote)
    }
}

/// Conversions between text and JSON strings (RFC 8259).
public enum JSONText {
    /// Returns the text as a JSON string, with control characters escaped, so that it can be a field between tabs.
    public static func quoted(_ text: String) -> String {
        var bytes: [UInt8] = []
        bytes.append(quoting: text)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns the text of a JSON string; nil for any other JSON value.
    public static func unquoted(_ json: Substring) -> String? {
        let bytes = Array(json.utf8)
        guard bytes.count >= 2, bytes.first == UInt8(ascii: "\""), bytes.last == UInt8(ascii: "\"") else { return nil }
        var units: [UInt16] = []
        let inner = String(decoding: bytes[1..<(bytes.count - 1)], as: UTF8.self)
        guard inner.utf8.contains(UInt8(ascii: "\\")) else { return inner }
        var rest = inner.utf16[...]
        while let unit = rest.popFirst() {
            guard unit == 0x5C else {
                units.append(unit)
                continue
            }
            guard let escape = rest.popFirst() else { return nil }
            switch UnicodeScalar(escape) {
            case "n": units.append(0x0A)
            case "r": units.append(0x0D)
            case "t": units.append(0x09)
            case "b": units.append(0x08)
            case "f": units.append(0x0C)
            case "\"", "\\", "/": units.append(escape)
            case "u":
                guard rest.count >= 4, let unit = UInt16(String(rest.prefix(4)) ?? "", radix: 16) else { return nil }
                units.append(unit)
                rest = rest.dropFirst(4)
            default: return nil
            }
        }
        return String(decoding: units, as: UTF16.self)
    }
}
