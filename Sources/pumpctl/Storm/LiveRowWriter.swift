import DeviceKit
import LineProtocol
import RecordFormat
import Terminal

/// How live rows are written.
enum LiveRowFormat: Sendable {
    case text, csv, json
}

/// Writes live rows as they come, to a file or to standard output.
struct LiveRowWriter: Sendable {
    private let format: LiveRowFormat
    private let file: OutputFile
    private let output: Output

    /// - Parameter path: The file to append to; nil or `-` for standard output.
    init(_ format: LiveRowFormat, path: String?, _ output: Output) throws(Failure) {
        self.format = format
        self.output = output
        do throws(FileError) {
            file = if let path { try OutputFile(path: path, .append) } else { OutputFile() }
        } catch {
            throw Failure(error)
        }
        if format == .csv, file.path == nil || file.length == 0 { try write("time,pipe,port,point,value") }
    }

    func write(_ row: StormLiveRow) throws(Failure) {
        switch format {
        case .text: try write(row.bytes.printable())
        case .json: try write(Output.json(LiveRowRecord(row: row)))
        case .csv:
            guard let measurement = row.measurement else {
                output.note("pumpctl: left out, since it is no measurement: \(row.bytes.printable(limit: 60))")
                return
            }
            let fields = [measurement.pipe, measurement.port, measurement.point, measurement.valueText]
            try write(CSV.row([row.time.iso8601] + fields.map { $0.printable() }))
        }
    }

    private func write(_ line: String) throws(Failure) { try file.write(results: Array(line.utf8) + [0x0A]) }
}

/// A live row as programs are told of it.
private struct LiveRowRecord: Encodable {
    let row: StormLiveRow

    enum CodingKeys: String, CodingKey { case time, row, pipe, port, point, value }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(row.time.iso8601, forKey: .time)
        try container.encode(row.bytes.printable(), forKey: .row)
        guard let measurement = row.measurement else { return }
        try container.encode(measurement.pipe, forKey: .pipe)
        try container.encode(measurement.port, forKey: .port)
        try container.encode(measurement.point, forKey: .point)
        try container.encode(measurement.value.isFinite ? measurement.value : nil, forKey: .value)
    }
}
