import ArgumentParser
import DeviceKit
import Transports

struct StormCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "storm", abstract: "Fetch the log of a storm sensor, or follow what it measures.",
        subcommands: [LogCommand.self])
}

struct LogCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "log", abstract: "Fetch the log of a storm sensor, or follow what it measures.",
        subcommands: [LogGetCommand.self, LogLiveCommand.self])
}

struct LogGetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Fetch the stored log, byte for byte.",
        discussion: """
            The protocol has no end marker: a log is complete after --quiet of silence. With -o it is written to \
            FILE.partial, which becomes FILE once the log is there; if the link breaks or you interrupt, what came stays in \
            FILE.partial, FILE is left as it was, and the exit code is not 0.
            """,
        example: "pumpctl --port ble:storm storm log get -o storm.log")

    @ParentCommand var parent: PumpctlCommand
    @OptionGroup var shared: SharedOptions

    @Option(name: .shortAndLong, help: ArgumentHelp("Where to write it, if not to standard output.", valueName: "file"))
    var output: String?

    @Option(
        help: ArgumentHelp("How long a silence ends the log.", valueName: "seconds"), transform: SecondsArgument.typed)
    var quiet = SecondsArgument(argument: "1")!

    func validate() throws {
        if shared.merged(with: parent.shared).json, output == nil || output == "-" {
            throw ValidationError("--json goes with -o FILE: the log itself is not JSON")
        }
    }

    func run() throws {
        let (path, quiet) = (output, quiet.duration)
        try CommandRunner.run(shared.merged(with: parent.shared), for: .storm) { context in
            try await LogFetching(context, quiet: quiet, path: path).run()
        }
    }
}

struct LogLiveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "live",
        abstract: "Follow the measurements as they are made.",
        discussion: """
            Prints a row for each: <pipe> <port> <point> <value>. A sensor that is unplugged, or out of reach, is waited for; \
            what it measures meanwhile is in its log. With -o rows are appended to FILE.

            Over BLE a sensor tells of its measurements twice: among what it has of its log, as on a serial port, and raw, by a \
            characteristic of its own, which --raw listens to instead.

            --csv prints time,pipe,port,point,value. Each line of --json has the keys time and row, and where the row is a \
            measurement pipe, port, point, and value, which is null where it is no finite number.
            """,
        example: "pumpctl --port ble:storm storm log live --csv")

    @ParentCommand var parent: PumpctlCommand
    @OptionGroup var shared: SharedOptions

    @Flag(help: "Print comma-separated values.")
    var csv = false

    @Flag(help: "Listen to the raw measurements of a BLE sensor.")
    var raw = false

    @Option(name: .shortAndLong, help: ArgumentHelp("The file to append to.", valueName: "file"))
    var output: String?

    @Option(help: ArgumentHelp("End after so many rows.", valueName: "number"))
    var count: Int?

    @Option(
        name: .customLong("for"), help: ArgumentHelp("End after this time.", valueName: "time"),
        transform: SecondsArgument.typed)
    var time: SecondsArgument?

    func validate() throws {
        if let count, count < 1 { throw ValidationError("--count is 1 or more") }
        if csv, shared.merged(with: parent.shared).json { throw ValidationError("--csv goes without --json") }
    }

    func run() throws {
        let (path, count, time) = (output, count, time?.duration)
        let (isCSV, isRaw) = (csv, raw)
        try CommandRunner.run(shared.merged(with: parent.shared), for: .storm, records: .values) { context in
            let format: LiveRowFormat = isCSV ? .csv : context.output.isJSON ? .json : .text
            let named = try context.endpoint()
            guard !isRaw || named.scheme == "ble" else {
                throw named.invalid("--raw goes with a BLE sensor, as ble:storm: leave it out")
            }
            let endpoint = isRaw ? named.rawMeasurements : named
            let writer = try LiveRowWriter(format, path: path, context.output)
            try await context.run(for: time) { try await context.followLog(at: endpoint, writer, count: count) }
        }
    }
}
