import ArgumentParser
import DeviceKit

/// The words that may stand at the cursor of a typed command line: commands, options and values.
struct LineCompletion {
    let surroundings: Surroundings

    /// Returns the words that continue a text.
    ///
    /// - Parameters:
    ///   - words: The words before the cursor, without the program.
    ///   - typed: The part of the word at the cursor that is before the cursor.
    func candidates(behind words: [String], _ typed: String) async -> [Candidate] {
        let line = CommandLine(words)
        guard (try? line.check()) != nil else { return [] }
        let isGroup = !line.command.configuration.subcommands.isEmpty
        // Behind `help`, there are only commands.
        if line.arguments == ["--help"] { return isGroup ? commands(of: line).continuing(typed) : [] }
        let grammar = isGroup ? CommandGrammar(SharedOptions.self) : CommandGrammar(of: line.command)
        let given = GivenArguments(line.arguments, of: grammar)
        let values = ValueCompletion(line: line, given: given, surroundings: surroundings)
        if let command = given.command {
            guard grammar.arguments.contains(where: \.isBehindTerminator) else { return [] }
            // Behind 'record FILE --' may be a line of pumpctl.
            let own = line.command == RecordCommand.self ? await candidates(behind: command, typed) : []
            return own.isEmpty ? [.otherProgram] : own
        }
        if let option = given.open, !option.takesMany || !typed.hasPrefix("-") {
            return await values.candidates(of: option, typed).continuing(typed)
        }
        if typed.hasPrefix("--"), let equals = typed.firstIndex(of: "="),
            let option = grammar.named(typed[..<equals]), option.kind == .option
        {
            let (name, value) = (typed[...equals], String(typed[typed.index(after: equals)...]))
            return await values.candidates(of: option, value).map { $0.behind(name) }.continuing(typed)
        }
        if typed.hasPrefix("-") { return options(grammar, given, line, typed) }
        if isGroup { return commands(of: line).continuing(typed) }
        let positionals = grammar.positionals
        let index = given.positionals.count
        guard let argument = index < positionals.count ? positionals[index] : positionals.last(where: \.isRepeating)
        else { return typed.isEmpty ? options(grammar, given, line, typed) : [] }
        return await values.candidates(of: argument, typed).continuing(typed)
    }

    /// Returns the commands of the line's group, and `help` at the top level.
    private func commands(of line: CommandLine) -> [Candidate] {
        let help = line.path.isEmpty && line.arguments != ["--help"]
        return line.command.configuration.subcommands.map {
            Candidate(text: $0.configuration.commandName ?? "", help: $0.configuration.abstract)
        } + (help ? [Candidate(text: "help", help: "Show the help of a command.")] : [])
    }

    /// Returns the options that are not given yet.
    private func options(
        _ grammar: CommandGrammar, _ given: GivenArguments, _ line: CommandLine, _ typed: String
    ) -> [Candidate] {
        var found = grammar.arguments.compactMap { argument -> Candidate? in
            let isGiven = argument.names.contains { given.options[$0] != nil }
            guard !isGiven || argument.isRepeating, let name = argument.name(continuing: typed) else { return nil }
            return Candidate(text: name, help: argument.help)
        }
        if line.path.isEmpty { found.append(Candidate(text: "--version", help: "Show the version.")) }
        // The parser lists --help only for a command that it runs.
        found.append(Candidate(text: "--help", help: "Show help information."))
        return found.continuing(typed)
    }
}
