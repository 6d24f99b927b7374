extension String {
    /// The number of terminal columns of the text: two for a wide character, none for a combining one.
    public var columns: Int { Self.columns(of: self) }

    /// Returns the number of terminal columns of `text`. In ASCII each byte is a character of one column, except that
    /// CR LF is a single character.
    private static func columns(of text: some StringProtocol) -> Int {
        var (count, previous) = (0, UInt8(0))
        for byte in text.utf8 {
            guard byte < 0x80 else { return columnsOfCharacters(in: text) }
            if byte != 0x0A || previous != 0x0D { count += 1 }
            previous = byte
        }
        return count
    }

    /// Returns the number of terminal columns of any text. Breaking the text into characters costs thirty times as much
    /// as the ASCII case.
    static func columnsOfCharacters(in text: some StringProtocol) -> Int { text.reduce(0) { $0 + $1.columns } }

    /// Returns the text, cut to at most `limit` columns. An ellipsis replaces the rest.
    public func cut(to limit: Int) -> String {
        guard columns > limit else { return self }
        var (text, rest) = ("", limit - 1)
        for character in self {
            rest -= character.columns
            if rest < 0 { break }
            text.append(character)
        }
        return limit > 0 ? text + "…" : ""
    }

    /// Returns the text, without its last parts if they do not fit into `limit` columns; an ellipsis replaces the
    /// missing parts. Parts are separated by two blanks. The first part is cut only if it does not fit alone.
    func fitting(_ limit: Int) -> String {
        guard columns > limit else { return self }
        let gap = "  "
        var text = ""
        for part in split(separator: gap) {
            let longer = text.isEmpty ? String(part) : text + gap + part
            guard (longer + " …").columns <= limit else { break }
            text = longer
        }
        return text.isEmpty ? cut(to: limit) : text + " …"
    }

    /// Returns the text, with lines of more than `limit` columns broken at blanks. The second and further parts of a
    /// line are indented by two columns more than the first part. A word that is longer than `limit` stays whole.
    public func wrapped(to limit: Int) -> String {
        split(separator: "\n", omittingEmptySubsequences: false).map { line -> String in
            guard Self.columns(of: line) > limit else { return String(line) }
            let indent = String(line.prefix { $0 == " " })
            var (text, width) = (indent, indent.count)
            var isFirst = true
            for word in line.dropFirst(indent.count).split(separator: " ", omittingEmptySubsequences: false) {
                let length = Self.columns(of: word)
                if !isFirst, width + 1 + length > limit {
                    text += "\n\(indent)  "
                    width = indent.count + 2
                } else if !isFirst {
                    text += " "
                    width += 1
                }
                text += word
                width += length
                isFirst = false
            }
            return text
        }.joined(separator: "\n")
    }

    /// Returns the text, padded with blanks to at least `width` columns.
    public func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - columns)) }

    /// The text without trailing blanks.
    var trimmingBlanks: String { lastIndex { $0 != " " }.map { String(self[...$0]) } ?? "" }
}

extension Character {
    /// The number of terminal columns of the character: a simplified form of Unicode's table of East Asian widths.
    fileprivate var columns: Int {
        guard let scalar = unicodeScalars.first else { return 0 }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: break
        }
        let isWide =
            switch scalar.value {
            case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE4F,
                0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x20000...0x3FFFD:
                true
            default: scalar.properties.isEmojiPresentation || unicodeScalars.contains { $0.value == 0xFE0F }
            }
        return isWide ? 2 : 1
    }
}
