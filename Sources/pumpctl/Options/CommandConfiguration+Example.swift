import ArgumentParser

extension CommandConfiguration {
    /// Creates the configuration of a command that runs, rather than of a group of commands.
    ///
    /// - Parameter example: An example of a command line, with which the help ends.
    init(
        commandName: String, abstract: String, usage: String? = nil, discussion: String = "", example: String
    ) {
        self.init(
            commandName: commandName, abstract: abstract, usage: usage,
            discussion: (discussion.isEmpty ? "" : discussion + "\n\n") + "Example: \(example)")
        // With this name set, the parser does not check whether the line requests a completion script, which it would
        // find out by first parsing the line as two commands of its own. ``CommandLine`` handles such a request.
        _superCommandName = "pumpctl"
    }
}
