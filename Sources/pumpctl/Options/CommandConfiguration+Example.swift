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
        // Only the whole program handles a request for a completion script. Without this line, each parse first tries
        // two commands for such a request.
        _superCommandName = "pumpctl"
    }
}
