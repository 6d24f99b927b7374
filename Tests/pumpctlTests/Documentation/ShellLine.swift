/// A line of shell, limited to the syntax that the documentation uses.
struct ShellLine {
    /// The words of each command, without quotes.
    private(set) var commands: [[String]] = [[]]

    init(_ text: String) {
        var word: String?
        var quote: Character?
        func end() {
            if let word { commands[commands.count - 1].append(word) }
            word = nil
        }
        for character in text {
            if let open = quote {
                if character == open { quote = nil } else { word = (word ?? "") + String(character) }
            } else if character == "'" || character == "\"" {
                quote = character
                word = word ?? ""
            } else if character == "#", word == nil {
                break
            } else if "|;&()<>".contains(character) {
                end()
                commands.append([])
            } else if character == " " {
                end()
            } else {
                word = (word ?? "") + String(character)
            }
        }
        end()
    }

    /// The arguments of each call of `program`.
    func arguments(of program: String) -> [[String]] {
        commands.filter { $0.first == program }.map { Array($0.dropFirst()) }
    }
}
