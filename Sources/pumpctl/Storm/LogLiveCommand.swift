import ArgumentParser
import DeviceKit
import LineProtocol
import RecordFormat
import Terminal
import Transports

struct LogLiveCommand: ContextCommand {
    static let configuration = CommandConfiguration(
        commandName: "live",
        abstract: "Show measurements as they are made.",
        discussion: """
            Prints a row for each: <pipe> <port> <point> <value>. If the sensor is unplugged or out of range, waits for its \
            return; its log keeps the measurements made until then. With -o, rows are appended to FILE.

            Over BLE, a sensor sends its measurements in two ways: as rows of its log, as on a serial port, and raw, over a \
            separate characteristic. --raw selects the latter.

            --csv prints time,pipe,port,point,value. Each line of --json has the keys time and row, and if the row is a \
            measurement, pipe, port, point, and value, which is null unless it is a finite number.
            """,
        example: "pumpctl --port ble:storm storm log live --csv")

    @OptionGroup var shared: SharedOptions

    @Flag(help: "Print comma-separated values.")
    var csv = false

    @Flag(help: "Show the raw measurements of a BLE sensor.")
    var raw = false

    @Option(name: .shortAndLong, help: ArgumentHelp("The file to append to.", valueName: "file"))
    var output: String?

    @Option(help: .end(after: "rows"))
    var count: Int?

    @Option(name: .customLong("for"), help: .endOfTime, transform: SecondsArgument.typed)
    var time: SecondsArgument?

    func validate() throws {
        if let count, count < 1 { throw ValidationError("--count must be 1 or more") }
        if csv, shared.json {
            throw ValidationError("--csv cannot be combined with --json")
        }
    }

    static var family: Family? { .storm }
    static var records: CommandContext.RecordedContent { .values }

    func run(in context: CommandContext) async throws {
        let named = try context.endpoint()
        guard !raw || named.scheme == "ble" else {
            throw named.invalid("omit --raw, which needs a BLE sensor, e.g. ble:storm")
        }
        let file = try OutputFile(path: output ?? "-", .append)
        if csv, file.path == nil || file.length == 0 { try file.write(line: CSV.row(StormLiveRow.columns)) }
        try await context.run(for: time?.duration, whileRead: file.path == nil) {
            try await follow(raw ? named.rawMeasurements : named, into: file, context)
        }
    }

    /// Writes rows as they arrive, up to `count` rows. If the link is lost, waits for the sensor and continues.
    private func follow(_ endpoint: Endpoint, into file: OutputFile, _ context: CommandContext) async throws {
        let output = context.output
        let link = try await context.openLink(endpoint, for: .watching, note: output.note)
        let reconnector = context.reconnector(endpoint, link, note: output.note)
        let rows = StormMonitor(over: link, reconnector, from: endpoint.stormCharacteristic)
        try await rows.closing {
            let recording = try await Recording.begin(context, endpoint, isDefault: true)
            var hasWarned = false
            try await rows.forEach(until: count) { event in
                recording?.record(event, at: endpoint)
                switch event {
                case .heard(let row):
                    if row.mayBeCut, !hasWarned {
                        hasWarned = true
                        output.note(
                            "pumpctl: warning: rows fill their packets: the ends of values may be missing",
                            hint: "read the rows over a serial port, or have the sensor request a larger MTU")
                    }
                    guard let line = line(row, output) else { break }
                    try file.write(line: line)
                    return true
                case .lost(let error):
                    output.note(
                        "pumpctl: \(error); waiting for the device to come back; its log keeps the measurements made until then"
                    )
                case .back:
                    output.note("pumpctl: \(endpoint.text) is back")
                    // The new link may have packets of another size.
                    hasWarned = false
                }
                return false
            }
        }
    }

    /// Returns the line to write for a row; nil with `--csv` if the row is not a measurement.
    private func line(_ row: StormLiveRow, _ output: Output) -> String? {
        guard csv else { return output.isJSON ? Output.json(row) : row.bytes.printable() }
        guard let cells = row.cells else {
            output.note("pumpctl: left out a row that is not a measurement: \(row.bytes.printable(limit: 60))")
            return nil
        }
        return CSV.row(cells.map { $0.printable() })
    }
}

extension OutputFile {
    fileprivate func write(line: String) throws(Failure) { try write(results: Array(line.utf8) + [0x0A]) }
}
