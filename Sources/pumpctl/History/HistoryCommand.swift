import ArgumentParser
import Charts
import DeviceKit
import LineProtocol
import RecordFormat
import Terminal

struct HistoryCommand: ParsableCommand {
    private static let timeForms = """
        an age such as 30s, 45m, 2h or 7d, 'today', 'yesterday', or a date such as 2026-11-20, 2026-11-20T17:04 or \
        2026-11-20T17:04:05Z; a date without Z or an offset (+01:00) is local time
        """

    static let configuration = CommandConfiguration(
        commandName: "history",
        abstract: "Show recorded values.",
        discussion: """
            'monitor' and 'storm log live' record the output of a device in ~/.local/share/pumpctl/record.sqlite \
            ($XDG_DATA_HOME). Other commands do so with --record.

            A time is \(timeForms). If an hour occurs twice, at the end of summer time, --since takes the first and --until the \
            second; the table then shows times with their offset.

            Each line of --json has the keys time, session, family, endpoint, device, and kind with the values of that reading, \
            whose names end with their unit (_c is °C). With --events: event, text. With --sessions: ended, ending, \
            readings, events, errors. With --where: path, bytes, optimized.

            Nothing is ever deleted; a day of 'monitor' takes about 3 MB.
            """,
        example: "pumpctl history --since yesterday --plot")

    @OptionGroup var own: JSONAndFamilyOptions
    var shared: SharedOptions { own.shared }

    @Option(help: ArgumentHelp("Start at this time.", valueName: "time"))
    var since: String?

    @Option(help: ArgumentHelp("End before this time.", valueName: "time"))
    var until: String?

    @Option(help: ArgumentHelp("Show only this device or endpoint.", valueName: "name"))
    var device: String?

    @Flag(help: "Show the sessions.")
    var sessions = false

    @Flag(help: "Show events and errors.")
    var events = false

    @Flag(name: .customLong("where"), help: "Show the path and size of the record.")
    var isPlaceAsked = false

    @Flag(help: "Speed up --sessions and --device in a large record of an older version; needed once.")
    var optimize = false

    @Flag(help: "Print comma-separated values.")
    var csv = false

    @Flag(help: "Plot values over time in the terminal.")
    var plot = false

    @Option(help: ArgumentHelp("Plot values into an SVG file.", valueName: "file"))
    var svg: String?

    private var isDrawing: Bool { plot || svg != nil }
    private var isJSON: Bool { shared.json }
    private var family: Family? { shared.family }

    func validate() throws {
        for (option, text) in [("--since", since), ("--until", until)] {
            guard let text, RecordTime(typed: text) == nil else { continue }
            throw ValidationError("unknown time '\(text)' for \(option); use: \(Self.timeForms)")
        }
        let filter = filter
        let isEmpty = filter.since.flatMap { since in filter.until.map { since >= $0 } } ?? false
        let flaws = [
            (isEmpty, "--since must be earlier than --until"),
            (isSeveral(csv, isJSON, isDrawing), "--csv, --json, and --plot or --svg cannot be combined"),
            (
                isSeveral(sessions, events, isDrawing, isPlaceAsked, optimize),
                "--sessions, --events, --where, --optimize, and --plot or --svg cannot be combined"
            ),
            (
                (isPlaceAsked || optimize) && (csv || filter != RecordFilter()),
                "--where and --optimize cannot be combined with options other than --json"
            ),
        ]
        if let flaw = flaws.first(where: \.0) { throw ValidationError(flaw.1) }
    }

    private func isSeveral(_ choices: Bool...) -> Bool { choices.count(where: \.self) > 1 }

    func run() throws {
        let output = Output(isJSON: isJSON)
        do {
            if isPlaceAsked {
                try showPlace(output)
            } else if optimize {
                let wasMissing = try RecordQuery.optimize()
                output.result(
                    wasMissing ? "the record is optimized" : "the record was already optimized",
                    ["ok": true, "changed": wasMissing] as ResultRecord)
            } else if isDrawing {
                try draw(output)
            } else {
                try show(output)
            }
            if let errno = output.failure { throw Failure(standardOutput: errno) }
        } catch {
            let failure = Failure(of: error)
            output.report(failure)
            throw ExitCode(failure.status.rawValue)
        }
    }

    private var filter: RecordFilter {
        let now = RecordTime.now
        var filter = RecordFilter()
        filter.since = since.flatMap { RecordTime(typed: $0, now: now) }
        filter.until = until.flatMap { RecordTime(typed: $0, now: now, isLater: true) }
        filter.family = family?.name
        filter.device = device
        return filter
    }
}

extension HistoryCommand {
    private func showPlace(_ output: Output) throws {
        let place = try RecordQuery.place()
        let bytes = place.byteCount
        let size = bytes < 100_000 ? "\(bytes / 1000) kB" : "\(bytes / 1_000_000).\(bytes / 100_000 % 10) MB"
        output.result(
            "\(place.path.printable())  \(bytes > 0 ? size : "nothing recorded yet")",
            ["path": place.path, "bytes": bytes, "optimized": place.isOptimized] as ResultRecord)
        if !place.isOptimized {
            output.note(
                "pumpctl: --sessions and --device are slow in this record",
                hint: "run 'pumpctl history --optimize' once")
        }
    }

    private func show(_ output: Output) throws {
        let table: RecordTable = sessions ? .sessions : events ? .events : isJSON ? .readings : .columns
        let format: HistoryRows.Format = isJSON ? .json : csv ? .csv : .table
        let (count, leftOut) = try HistoryRows.write(
            try RecordQuery(table, filter), as: format, width: TerminalSize.current?.columns)
        if leftOut > 0 {
            output.note(
                "pumpctl: \(leftOut.counted("column")) left out: the terminal is too narrow",
                hint: "show all columns: --csv")
        }
        if count == 0 { noteAbsence("no \(sessions ? "session" : events ? "event" : "reading") was recorded", output) }
    }

    private func draw(_ output: Output) throws {
        let size = TerminalSize.forDrawing
        // One query serves both drawings: the one with more columns decides.
        let columns = max(plot ? Chart.columns(in: size) : 1, svg == nil ? 1 : Chart.svgColumns)
        let chart = Chart(
            HistoryPlot.shown(try RecordQuery.series(columns: columns, filter)), limits: HistoryPlot.limits,
            naming: HistoryPlot.naming)
        if chart.isEmpty {
            let file = svg.map { $0 == "-" ? "" : "; \($0.printable()) is unchanged" } ?? ""
            return noteAbsence("nothing to draw: no number was recorded", effect: file, output)
        }
        if let svg { try ReplacedFile(path: svg).replace(with: Array(chart.svg.utf8)) }
        guard plot else { return }
        let rest = "… more are not listed: use --device, or --svg"
        for line in chart.lines(in: size, isColoured: output.isColoured, rest: rest) { output.text(line) }
    }

    /// Reports that there is nothing to show, which is no failure.
    ///
    /// - Parameter effect: The effect on the file of `--svg`, to be appended; empty if there is none.
    private func noteAbsence(_ what: String, effect: String = "", _ output: Output) {
        let isFiltered = filter != RecordFilter()
        output.note(
            "pumpctl: \(what)\(isFiltered ? " that matches the options" : "")\(effect)",
            hint: isFiltered
                ? "omit --since, --until, --device or --family; list the recorded sessions: pumpctl history --sessions"
                : "run 'pumpctl monitor' to record, or add --record to another command")
    }
}
