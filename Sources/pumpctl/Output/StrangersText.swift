import LineProtocol

extension String {
    /// The text without what a terminal could take for a command, or what hides or turns the text around it.
    func printable() -> String {
        guard unicodeScalars.contains(where: \.isInvisible) else { return self }
        var text = ""
        for scalar in unicodeScalars {
            if !scalar.isInvisible {
                text.unicodeScalars.append(scalar)
            } else if scalar.value < 0x100 {
                text += "\\x" + (scalar.value < 16 ? "0" : "") + String(scalar.value, radix: 16)
            } else {
                text += "\\u{\(String(scalar.value, radix: 16))}"
            }
        }
        return text
    }

    /// This JSON with such characters escaped in its strings, where all of them are.
    func escapingInvisiblesAsJSON() -> String {
        guard utf8.contains(where: { $0 >= 0x7F }), unicodeScalars.contains(where: \.isInvisible) else { return self }
        var json = ""
        for scalar in unicodeScalars {
            guard scalar.isInvisible else {
                json.unicodeScalars.append(scalar)
                continue
            }
            for unit in String(scalar).utf16 {
                let digits = String(unit, radix: 16)
                json += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            }
        }
        return json
    }

    /// A field of comma-separated values, as RFC 4180 has it.
    func quotedForCSV() -> String {
        guard utf8.contains(where: { $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: "\"") }) else { return self }
        return "\"" + split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
    }
}
