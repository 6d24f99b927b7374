/// A shell that asks for completions.
enum CompletingShell: String, CaseIterable {
    case bash, zsh, fish

    /// Whether a backslash escapes characters inside these quotation marks.
    fileprivate func hasEscapes(in quote: Unicode.Scalar) -> Bool { quote == "\"" || self == .fish }

    /// Whether a backslash escapes this character inside these quotation marks; if not, the backslash is text.
    fileprivate func escapes(_ character: Unicode.Scalar, in quote: Unicode.Scalar) -> Bool {
        character == quote || character == "\\" || quote == "\"" && (character == "$" || character == "`")
    }
}

/// A command line as a person types it in a shell, up to the cursor, without its quotation marks.
///
/// Variables and other expansions stay as they are typed.
struct TypedLine: Hashable {
    /// The words before the word at the cursor. The first names the program.
    private(set) var words: [String] = []
    /// The part of the word at the cursor that is before the cursor.
    private(set) var current = ""
    /// The quotation mark that is open at the cursor; nil if there is none.
    private(set) var quote: Unicode.Scalar?

    /// Splits a line.
    ///
    /// - Parameter quote: A quotation mark that is open at the beginning of the text; nil for none.
    init(_ text: String, in shell: CompletingShell, quote: Unicode.Scalar? = nil) {
        self.quote = quote
        var (isEscaped, isInWord) = (false, quote != nil)
        for character in text.unicodeScalars {
            if isEscaped {
                if let quote = self.quote, !shell.escapes(character, in: quote) { current += "\\" }
                current.unicodeScalars.append(character)
                isEscaped = false
            } else if character == "\\", self.quote.map(shell.hasEscapes) ?? true {
                (isEscaped, isInWord) = (true, true)
            } else if let quote = self.quote {
                if character == quote { self.quote = nil } else { current.unicodeScalars.append(character) }
            } else if character == "'" || character == "\"" {
                (self.quote, isInWord) = (character, true)
            } else if character.properties.isWhitespace {
                if isInWord { words.append(current) }
                (current, isInWord) = ("", false)
            } else {
                current.unicodeScalars.append(character)
                isInWord = true
            }
        }
        // Variables that are set for the command, as in `PUMPCTL_PORT=sim:led pumpctl led get`.
        words = Array(words.drop { $0.first != "=" && $0.contains("=") && !$0.hasPrefix("-") })
    }
}
