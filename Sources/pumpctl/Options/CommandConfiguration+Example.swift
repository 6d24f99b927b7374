import ArgumentParser

extension CommandConfiguration {
    /// The configuration of a command that is run, and not only leads to others.
    ///
    /// - Parameter example: A line that a person might type, which ends its help.
    init(
        commandName: String, abstract: String, usage: String? = nil, discussion: String = "", example: String
    ) {
        self.init(
            commandName: commandName, abstract: abstract, usage: usage,
            discussion: (discussion.isEmpty ? "" : discussion + "\n\n") + "Example: \(example)")
        // Only the whole program is asked for a script of completions: otherwise each parse tries two commands for it first.
        _superCommandName = "pumpctl"
    }
}
