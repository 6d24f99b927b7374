/// Commands as they were spelt in earlier versions, which are still understood and shown nowhere.
enum FormerCommands {
    /// The same arguments with the command as it is spelt now.
    static func rewritten(_ arguments: [String]) -> [String] {
        guard let index = CommandWords(arguments).place else { return arguments }
        for row in FamilyRow.all {
            guard let words = row.formerCommands[arguments[index]] else { continue }
            return arguments[..<index] + words + arguments[(index + 1)...]
        }
        return arguments
    }
}
