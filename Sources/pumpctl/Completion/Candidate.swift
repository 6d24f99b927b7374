import LineProtocol

/// A word that may stand at the cursor, which a shell offers as a completion.
struct Candidate: Hashable, Sendable {
    /// The whole word, without quotation marks.
    var text: String
    /// A short description; empty for none.
    var help = ""

    /// The only candidate if the words behind `--` are a command line of another program. The script then has the shell
    /// complete that command line.
    static let otherProgram = Candidate(text: "--")

    /// Whether the word goes on, as after `sim:` or a folder's `/`. The shell then adds no blank.
    var isOpen: Bool { text.last.map { "/:=?&@.,".contains($0) } ?? false }

    /// Returns the candidate with a text before its own.
    func behind(_ prefix: some StringProtocol) -> Candidate { Candidate(text: prefix + text, help: help) }
}

extension [Candidate] {
    /// Creates candidates without descriptions.
    init(words: some Sequence<String>) { self = words.map { Candidate(text: $0) } }

    /// Returns the candidates that continue a text, each once.
    func continuing(_ text: String) -> [Candidate] {
        var seen: Set<String> = []
        // Leave out texts with control characters: a name from elsewhere, such as that of a BLE device, must not
        // control the terminal.
        return filter { $0.text.hasPrefix(text) && $0.text.printable() == $0.text && seen.insert($0.text).inserted }
    }

    /// Returns the answer that the script of a shell expects: one candidate a line.
    ///
    /// - Parameter tail: The end of the typed word that bash replaces; unused for other shells.
    func answer(to shell: CompletingShell, _ line: TypedLine, replacing tail: String) -> String {
        let lines =
            switch shell {
            case .bash: words(in: line, replacing: tail)
            // After a word that is marked by `+`, the script adds no blank; after one that is marked by `-`, it does.
            case .zsh:
                map { candidate in
                    let word = candidate.text.replacing("\\", with: "\\\\").replacing(":", with: "\\:")
                    return (candidate.isOpen ? "+" : "-") + word
                        + (candidate.help.isEmpty ? "" : ":" + candidate.help.printable())
                }
            case .fish: map { $0.text + "\t" + $0.help.printable() }
            }
        return lines.map { $0 + "\n" }.joined()
    }

    // MARK: bash

    /// Returns the words with which bash replaces the end of the typed word.
    ///
    /// bash inserts a word as it is, and replaces only the text behind the last character of `COMP_WORDBREAKS` that is
    /// not quoted, such as `:` or `=`.
    private func words(in line: TypedLine, replacing tail: String) -> [String] {
        let end = TypedLine(tail, in: .bash, quote: line.quote).current
        let kept = line.current.hasSuffix(end) ? line.current.unicodeScalars.count - end.unicodeScalars.count : 0
        let words = map { Self.quoted(String($0.text.unicodeScalars.dropFirst(kept)), in: line.quote) }
        // Readline closes the quotation marks behind the only word. A second word keeps them open.
        return count == 1 && self[0].isOpen && line.quote != nil ? words + [words[0] + "…"] : words
    }

    /// Returns the text as bash reads it inside these quotation marks, or outside any.
    private static func quoted(_ text: String, in quote: Unicode.Scalar?) -> String {
        switch quote {
        case "'": return text.replacing("'", with: "'\\''")
        case .some:
            // Within double quotes, bash also replaces `!e` by a command of its history, and a backslash would stay.
            return escaped(text) { "\"\\$`".unicodeScalars.contains($0) }.replacing("!", with: "\"\\!\"")
        case nil:
            let home = text.hasPrefix("~/") ? "~" : ""
            return home
                + escaped(String(text.dropFirst(home.count))) { scalar in
                    scalar.isASCII && !scalar.properties.isAlphabetic && scalar.properties.numericType == nil
                        && !"_-./:%@+=,".unicodeScalars.contains(scalar)
                }
        }
    }

    private static func escaped(_ text: String, _ isSpecial: (Unicode.Scalar) -> Bool) -> String {
        text.unicodeScalars.map { (isSpecial($0) ? "\\" : "") + String($0) }.joined()
    }
}
