import ArgumentParser
import RecordFormat

struct HistoryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "history",
        abstract: "Show what was recorded.",
        discussion: """
            'monitor' and 'log live' record what the device says, and other commands do with --record, in \
            ~/.local/share/pumpctl/record.sqlite ($XDG_DATA_HOME). A time is 30m, 2h, 7d for so long ago, or a date in local \
            time, as 2026-11-20 or 2026-11-20T17:04.

            Each line of --json has the keys time, session, family, endpoint, device, and kind with the values that were told; \
            with --events event and text; with --sessions ended, ending, readings, events and errors; with --where path and bytes.

            Nothing is ever deleted; a day of 'monitor' takes about 3 MB.
            """)

    @ParentCommand var parent: PumpctlCommand
    @OptionGroup var shared: SharedOptions

    @Option(help: ArgumentHelp("From this time on.", valueName: "time"))
    var since: String?

    @Option(help: ArgumentHelp("Before this time.", valueName: "time"))
    var until: String?

    @Option(help: ArgumentHelp("Of this device or endpoint only.", valueName: "name"))
    var device: String?

    @Flag(help: "Show the sessions.")
    var sessions = false

    @Flag(help: "Show what has happened and what went wrong.")
    var events = false

    @Flag(name: .customLong("where"), help: "Show where the record is, and how large.")
    var isPlaceAsked = false

    @Flag(help: "Print comma-separated values.")
    var csv = false

    @Flag(help: "Draw temperatures and speed over time.")
    var plot = false

    @Option(help: ArgumentHelp("Draw them into a file, as SVG.", valueName: "file"))
    var svg: String?

    private var isDrawing: Bool { plot || svg != nil }

    func validate() throws {
        for text in [since, until].compactMap(\.self) where TimeArgument(text, now: .now) == nil {
            throw ValidationError("'\(text)' is no time: \(TimeArgument.rule)")
        }
        let json = shared.merged(with: parent.shared).json
        if [csv, json, isDrawing].filter(\.self).count > 1 {
            throw ValidationError("--csv, --json, and --plot or --svg exclude each other")
        }
        if [sessions, events, isDrawing, isPlaceAsked].filter(\.self).count > 1 {
            throw ValidationError("--sessions, --events, --where, and --plot or --svg exclude each other")
        }
        if isPlaceAsked, csv { throw ValidationError("--where goes without --csv") }
    }

    func run() throws {
        let options = shared.merged(with: parent.shared)
        let output = Output(isJSON: options.json)
        do throws(Failure) {
            var filter = RecordFilter()
            filter.since = since.flatMap { TimeArgument($0, now: .now)?.time }
            filter.until = until.flatMap { TimeArgument($0, now: .now)?.time }
            filter.family = options.family?.rawValue
            filter.device = device
            if isPlaceAsked { try showPlace(output) } else { try show(filter, output) }
            if let errno = output.failure { throw Failure(standardOutput: errno) }
        } catch {
            output.report(error)
            throw ExitCode(error.status.rawValue)
        }
    }

    private func showPlace(_ output: Output) throws(Failure) {
        try HistoryQuery.place.forEachRow { cells throws(Failure) in
            guard let path = JSONText.unquoted(cells[0][...]), let bytes = Int(cells[1]) else { return }
            let size = bytes < 100_000 ? "\(bytes / 1000) kB" : "\(bytes / 1_000_000).\(bytes / 100_000 % 10) MB"
            output.result("\(Array(path.utf8).printable())  \(size)", PlaceRecord(path: path, bytes: bytes))
        }
    }

    private func show(_ filter: RecordFilter, _ output: Output) throws(Failure) {
        let table: RecordTable = sessions ? .sessions : events ? .events : output.isJSON ? .readings : .columns
        let query = HistoryQuery(table, filter)
        if isDrawing {
            let chart = try HistoryChart(query)
            if let svg { try OutputFile(path: svg, .replace).write(Array(SVGChart(chart).text.utf8)) }
            if plot { TerminalChart(chart, output).draw() }
        } else if output.isJSON {
            try HistoryObjects(query).write()
        } else if csv {
            try HistoryText(query).writeCSV()
        } else {
            try HistoryText(query).writeTable()
        }
    }
}

/// Where the record is, as programs are told of it.
private struct PlaceRecord: Encodable {
    var path: String
    var bytes: Int
}
