import DeviceKit
import LineProtocol

/// How messages are written.
enum MessageFormat: Sendable {
    case text, csv, json
    /// As they are on the wire.
    case wire
}

/// Writes messages to a file or to standard output, as they are read.
struct MessageWriter {
    /// How many bytes are written at once, or a little more.
    private static let blockSize = 1 << 16

    private let format: MessageFormat
    private let file: OutputFile
    private var block: [UInt8] = []

    private init(_ format: MessageFormat, _ file: OutputFile) {
        self.format = format
        self.file = file
        if format == .csv { block += Array("id,time,status,category,latitude,longitude,content\n".utf8) }
    }

    /// Writes the messages that are kept, of that status and that category, or all.
    ///
    /// - Throws: `FileError`, or `Trouble` where they can't be read.
    static func write(
        _ status: RescueStatus?, _ category: RescueCategory? = nil, as format: MessageFormat, to file: OutputFile
    ) async throws {
        try await aside {
            let reader = try MessageReader(status: status, category: category)
            var writer = MessageWriter(format, file)
            while let message = try reader.next() {
                try Task.checkCancellation()
                try writer.add(message)
            }
            try writer.flush()
        }
    }

    private mutating func add(_ message: RescueMessage) throws(FileError) {
        block += line(message) + [0x0A]
        if block.count >= Self.blockSize { try flush() }
    }

    private mutating func flush() throws(FileError) {
        try file.write(block)
        block.removeAll(keepingCapacity: true)
    }

    private func line(_ message: RescueMessage) -> [UInt8] {
        switch format {
        case .wire: message.json
        case .json: Array(Output.json(MessageRecord(message)).utf8)
        case .csv: Array(Self.csv(message).utf8)
        case .text: Array(MessageText.line(message, showsStatus: true).utf8)
        }
    }

    private static func csv(_ message: RescueMessage) -> String {
        [
            "\(message.id)", message.isoTime, message.status.rawValue, message.category.rawValue,
            "\(message.position.latitude)", "\(message.position.longitude)", message.content,
        ].map { $0.harmlessForCSV() }.joined(separator: ",")
    }
}

/// Messages as people read them.
enum MessageText {
    /// The longest of the categories that the protocol names.
    private static let categoryWidth = "Road Closure".count

    /// A message in a line.
    static func line(_ message: RescueMessage, showsStatus: Bool) -> String {
        let category = message.category.rawValue.printable()
        let padding = String(repeating: " ", count: max(0, categoryWidth - category.count))
        let status = message.status == .synced ? "synced   " : "pending  "
        let place = "\(message.position.latitude),\(message.position.longitude)"
        return "\(message.isoTime)  " + (showsStatus ? status : "") + "\(category)\(padding)  \(place)  "
            + message.content.printable()
    }
}

/// A message as programs are told of it.
struct MessageRecord: Encodable {
    /// What has come about; nil in a list.
    var event: String?
    var id: String
    var time: String
    var status: String
    var category: String
    var latitude: Double
    var longitude: Double
    var content: String

    init(_ message: RescueMessage, event: String? = nil) {
        self.event = event
        id = "\(message.id)"
        time = message.isoTime
        status = message.status.rawValue
        category = message.category.rawValue
        latitude = message.position.latitude
        longitude = message.position.longitude
        content = message.content
    }
}

extension RescueMessage {
    /// When it was written, by ISO 8601.
    var isoTime: String { WallTime(secondsSince1970: time.secondsSince1970).iso8601 }
}
