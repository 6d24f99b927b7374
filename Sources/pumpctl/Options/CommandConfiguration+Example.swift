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
        // With this name set, the parser of the command does not look for a request for a completion script, for which
        // it would first try to parse two other commands. ``CommandLine`` handles such a request.
        _superCommandName = "pumpctl"
    }
}
