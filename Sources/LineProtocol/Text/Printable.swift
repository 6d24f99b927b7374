extension String {
    /// The text as it may be printed: what a terminal acts on, or does not show, is written `\x1b`, `\u{202e}`.
    ///
    /// What strangers say, such as the name of a device, goes through this.
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

    /// The text as an item of a list and as a word of a command line: printable, and in quotes as a shell reads them if it is
    /// empty or has blanks, commas, or other characters that mean something there.
    public var asWord: String {
        let text = printable()
        let isPlain = text.unicodeScalars.allSatisfy { scalar in
            scalar.properties.isAlphabetic || scalar.properties.numericType != nil
                || "_-./:%@+=\\{}?".unicodeScalars.contains(scalar)
        }
        return isPlain && !text.isEmpty ? text : "'\(text.replacing("'", with: "'\\''"))'"
    }

    /// JSON as it may be printed: what a terminal acts on, or does not show, is written `\u202e`. It may be in strings alone,
    /// beyond the control characters of ASCII, which are escaped in any JSON.
    public func printableInJSON() -> String {
        guard utf8.contains(where: { $0 >= 0x7F }) else { return self }
        var text = ""
        for scalar in unicodeScalars {
            guard !scalar.isPrintable else {
                text.unicodeScalars.append(scalar)
                continue
            }
            for unit in String(scalar).utf16 {
                let digits = String(unit, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits
            }
        }
        return text
    }
}

extension [UInt8] {
    /// The bytes as text of printable ASCII and UTF-8, others as `\xNN`, at most `limit` characters of it. What turns the
    /// direction of text or ends its line without being seen is escaped as well, as `\u{NNNN}`.
    public func printable(limit: Int = .max) -> String {
        var text = ""
        if let whole = String(validating: self, as: UTF8.self) {
            text = whole.printable()
        } else {
            for byte in self { text += (0x20..<0x7F).contains(byte) ? String(UnicodeScalar(byte)) : Self.escaped(byte) }
        }
        return text.count > limit ? text.prefix(limit) + "…" : text
    }

    /// Each byte as two hexadecimal digits, with spaces between: `01 ff`.
    public var hexadecimal: String {
        map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined(separator: " ")
    }

    private static func escaped(_ byte: UInt8) -> String {
        "\\x" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }
}

extension Unicode.Scalar {
    /// Whether a terminal shows it and does nothing else.
    public var isPrintable: Bool {
        switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: false
        case .format: value == 0x200D  // it joins emoji
        default: true
        }
    }
}
