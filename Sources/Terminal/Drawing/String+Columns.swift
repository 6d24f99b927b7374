extension String {
    /// How many columns of a terminal the text takes: two for a wide character, none for a combining one.
    public var columns: Int { Self.columns(of: self) }

    /// How many columns `text` takes. Of ASCII each byte is a character that takes one; only a carriage return and the line feed
    /// behind it are one together.
    private static func columns(of text: some StringProtocol) -> Int {
        var (count, previous) = (0, UInt8(0))
        for byte in text.utf8 {
            guard byte < 0x80 else { return columnsOfCharacters(in: text) }
            if byte != 0x0A || previous != 0x0D { count += 1 }
            previous = byte
        }
        return count
    }

    /// The same for text of any kind, which is broken into characters: that costs thirty times as much.
    static func columnsOfCharacters(in text: some StringProtocol) -> Int { text.reduce(0) { $0 + $1.columns } }

    /// The text, cut so that it takes no more than `limit` columns. An ellipsis stands for what was cut.
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

    /// The text, without the last of its parts where they do not fit into `limit` columns; an ellipsis stands for them. Parts are
    /// separated by two blanks. Only a first part that does not fit itself is cut.
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

    /// The text, whose lines break at blanks where they would take more than `limit` columns. What follows a break is indented
    /// by two columns more than its line. A word that is longer than a line stays whole.
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

    /// The text, filled with blanks so that it takes `width` columns at least.
    public func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - columns)) }

    /// The text without the blanks at its end.
    var trimmingBlanks: String { lastIndex { $0 != " " }.map { String(self[...$0]) } ?? "" }
}

extension Character {
    /// How many columns of a terminal it takes. What Unicode's table of East Asian widths says, in round numbers.
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
