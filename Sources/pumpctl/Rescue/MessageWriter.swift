import DeviceKit
import LineProtocol
import RecordFormat
import Terminal

/// How messages are written.
enum MessageFormat: Sendable {
    case text, csv, json
    /// As they are on the wire.
    case wire

    fileprivate func line(_ message: RescueMessage) -> [UInt8] {
        switch self {
        case .wire: return message.json
        case .json: return Array(Output.json(MessageRecord(message)).utf8)
        case .text: return Array(MessageText.line(message, showsStatus: true).utf8)
        case .csv:
            let fields = [
                "\(message.id)", message.isoTime, message.status.rawValue, message.category.rawValue,
                "\(message.position.latitude)", "\(message.position.longitude)", message.content,
            ]
            return Array(CSV.row(fields.map { $0.printable() }).utf8)
        }
    }
}

extension OutputFile {
    /// Writes the messages that are kept, of that status and that category, or all, as they are read.
    ///
    /// - Throws: `FileError`, or `Trouble` where they can't be read.
    func writeMessages(
        _ status: RescueStatus?, _ category: RescueCategory? = nil, as format: MessageFormat
    ) async throws {
        try await aside {
            let reader = try MessageReader(status: status, category: category)
            var block: [UInt8] = []
            if format == .csv { block += Array("id,time,status,category,latitude,longitude,content\n".utf8) }
            while let message = try reader.next() {
                try Task.checkCancellation()
                block += format.line(message) + [0x0A]
                guard block.count >= 1 << 16 else { continue }
                try self.write(block)
                block.removeAll(keepingCapacity: true)
            }
            try self.write(block)
        }
    }
}
/// Messages as people read them.
enum MessageText {
    /// The longest of the categories that the protocol names.
    private static let categoryWidth = "Road Closure".count

    /// A message in a line.
    static func line(_ message: RescueMessage, showsStatus: Bool) -> String {
        let category = message.category.rawValue.printable().padded(to: categoryWidth)
        let status = message.status == .synced ? "synced   " : "pending  "
        let place = "\(message.position.latitude),\(message.position.longitude)"
        return "\(message.isoTime)  " + (showsStatus ? status : "") + "\(category)  \(place)  "
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
    var isoTime: String { RecordTime(secondsSince1970: time.secondsSince1970).iso8601 }
}
