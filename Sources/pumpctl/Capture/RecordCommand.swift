import ArgumentParser
import DeviceKit

struct RecordCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "record",
        abstract: "Run a command, and capture its traffic.",
        usage: "pumpctl record <file> -- <command> ...",
        discussion: """
            A pumpctl command runs with --capture. Any other program gets the device as a pseudo-terminal, whose path is in \
            the environment variable PUMPCTL_PORT; its exit code is also that of record. For a program with the name of a \
            pumpctl command, give the path.

            The file has one JSON object per line. An existing file is not overwritten. 'replay' shows a capture, and the \
            endpoint replay:FILE plays it back. A capture is not part of the record of --record and 'history'.
            """,
        example: "pumpctl --port /dev/ttyUSB0 record pump.capture -- on --speed 200 --for 10s")

    @OptionGroup var own: SharedPortOptions
    var shared: SharedOptions { own.shared }

    @Argument(help: "The file to create.")
    var file: String

    @Argument(parsing: .postTerminator, help: ArgumentHelp("The command and its arguments.", valueName: "command"))
    var command: [String] = []

    func validate() throws {
        if command.isEmpty {
            throw ValidationError("record needs a command, e.g. pumpctl record \(file) -- status")
        }
    }

    func run() throws {
        var options = shared
        options.capture = file
        let command = command
        // Check before the file is created: otherwise a program that can't be started would leave an empty file.
        do throws(ServedCommand.StartFailure) { try ServedCommand.check(command) } catch {
            error.report(command, hint: SharedPort.startHint, on: Output(isJSON: options.json))
            throw ExitCode(error.exitStatus)
        }
        try CommandRunner.runToStatus(options, records: .nothing) { context in
            try await SharedPort.run(command, context, note: context.output.note)
        }
    }
}

extension RecordCommand {
    /// Returns the line with `--capture FILE` in place of `record FILE --`; nil if the line does not have this form, if
    /// no pumpctl command follows, or if the line requests help.
    static func captured(_ line: CommandLine) -> CommandLine? {
        guard line.command == RecordCommand.self, let end = line.arguments.firstIndex(of: "--") else { return nil }
        let command = Array(line.arguments[(end + 1)...])
        let named = CommandLine(command)
        guard !named.path.isEmpty, named.command != RecordCommand.self else { return nil }
        var (options, files, rest) = ([String](), [String](), line.arguments[..<end])
        while let word = rest.popFirst() {
            if SharedOption.valued.contains(word[...]) {
                options += [word] + rest.prefix(1)
                rest = rest.dropFirst()
            } else if word.hasPrefix("-") {
                options.append(word)
            } else {
                files.append(word)
            }
        }
        guard files.count == 1, !options.contains("--help"), !options.contains("-h") else { return nil }
        return CommandLine(options + ["--capture", files[0]] + command)
    }
}
