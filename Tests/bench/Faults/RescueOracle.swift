import FirmwareSim
import FoundationEssentials
import LineProtocol

/// What a phone says, read by Foundation and by nothing of the host's.
enum RescueOracle {
    /// A message by its fields, in one way of writing.
    struct Fields: Hashable {
        var id: String
        var content: String
        var position: [Double]
        var seconds: Double
        var category: String
    }

    /// The messages that were delivered from `start` on, wherever they begin in what came.
    static func messages(_ tape: Tape, from start: Int) -> Set<Fields> {
        Set(tape.streams(from: start).flatMap(messages))
    }

    private static let names = ["id", "content", "latitude", "longitude", "timestamp", "status", "category"]
    private static let statuses = ["pending_sync", "synced"]

    private static func messages(in stream: [UInt8]) -> [Fields] {
        let begins = stream.indices.filter { stream[$0] == UInt8(ascii: "{") }
        return begins.compactMap { begin in
            // A message has no object in it: it ends where there is one for the first time.
            for end in stream[begin...].prefix(1024).indices where stream[end] == UInt8(ascii: "}") {
                if let message = message(Array(stream[begin...end])) { return Fields(message) }
            }
            return nil
        }
    }

    /// A message that has each field once, and none of another value than it may have.
    private static func message(_ json: [UInt8]) -> PhoneMessage? {
        // A category that the page does not name is handed on as it came.
        guard let message = PhoneMessage(json: json), statuses.contains(message.status) else { return nil }
        let text = String(decoding: json, as: UTF8.self)
        return names.allSatisfy { text.split(separator: "\"\($0)\":").count == 2 } ? message : nil
    }
}

extension RescueOracle.Fields {
    init(_ message: PhoneMessage) {
        self.init(
            id: message.id.uuidString, content: message.content, position: [message.latitude, message.longitude],
            seconds: message.timestamp.timeIntervalSinceReferenceDate, category: message.category)
    }

    init(_ message: RescueMessage) {
        self.init(
            id: "\(message.id)", content: message.content,
            position: [message.position.latitude, message.position.longitude],
            seconds: message.time.secondsSince2001, category: message.category.rawValue)
    }
}
