internal import StrictJSON

extension String {
    /// Returns the text with escapes such as `\x1b` and `\u{202e}` for characters that a terminal obeys or does not
    /// show.
    ///
    /// Use this function for text from outside, such as the name of a device.
    public func printable() -> String {
        guard !unicodeScalars.allSatisfy(\.isPrintable) else { return self }
        var text = ""
        for scalar in unicodeScalars {
            let digits = String(scalar.value, radix: 16)
            if scalar.isPrintable {
                text.unicodeScalars.append(scalar)
            } else if scalar.value < 0x100 {
                text += "\\x" + (digits.count < 2 ? "0" : "") + digits
            } else {
                text += "\\u{\(digits)}"
            }
        }
        return text
    }

    /// The text as an item of a list or a word of a command line: printable, and in shell quotes if it is empty or has
    /// spaces, commas, or other special characters. Backslashes, braces and question marks stay as they are, since
    /// escapes and endpoints contain them.
    public var asWord: String {
        let text = printable()
        let isPlain = text.unicodeScalars.allSatisfy { scalar in
            scalar.properties.isAlphabetic || scalar.properties.numericType != nil
                || "_-./:%@+=\\{}?".unicodeScalars.contains(scalar)
        }
        return isPlain && !text.isEmpty ? text : "'\(text.replacing("'", with: "'\\''"))'"
    }

    /// Returns the JSON text with escapes such as `\u202e` for characters that a terminal obeys or does not show.
    /// Outside ASCII, these characters can occur only in strings, where an escape is valid.
    ///
    /// The JSON must be on one line: line ends between tokens would be escaped, too.
    public func printableInJSON() -> String {
        guard utf8.contains(where: { $0 >= 0x7F }) else { return self }
        var text = ""
        for scalar in unicodeScalars {
            if scalar.isPrintable { text.unicodeScalars.append(scalar) } else { text += scalar.escapeInJSON }
        }
        return text
    }
}

extension [UInt8] {
    /// Returns the bytes as printable text. Valid UTF-8 is escaped as by `String.printable()`; in other data all bytes
    /// except printable ASCII become `\xNN`.
    ///
    /// - Parameter limit: The largest number of characters; a longer text is cut and ends with `…`.
    public func printable(limit: Int = .max) -> String {
        var text = ""
        if let whole = String(validating: self, as: UTF8.self) {
            text = whole.printable()
        } else {
            for byte in self { text += (0x20..<0x7F).contains(byte) ? String(UnicodeScalar(byte)) : Self.escaped(byte) }
        }
        return text.count > limit ? text.prefix(limit) + "…" : text
    }

    /// The bytes as two hexadecimal digits each, separated by spaces: `01 ff`.
    public var hexadecimal: String {
        map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined(separator: " ")
    }

    private static func escaped(_ byte: UInt8) -> String {
        "\\x" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }
}

extension Unicode.Scalar {
    /// Whether a terminal only shows the character. False for a character that a terminal obeys or that is invisible.
    public var isPrintable: Bool { isShown }
}
