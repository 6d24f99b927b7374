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

    /// What was delivered from `start` on that is of no message and nothing that parts them, as text; nothing of what came last,
    /// which may not have been all.
    static func rest(_ tape: Tape, from start: Int) -> [String] {
        tape.streams(from: start).flatMap { stream in
            var pieces: [[UInt8]] = [[]]
            var place = stream.startIndex
            while place < stream.endIndex {
                if let end = endOfMessage(in: stream, from: place) {
                    place = end + 1
                    pieces.append([])
                } else {
                    if !" \r\n".utf8.contains(stream[place]) { pieces[pieces.count - 1].append(stream[place]) }
                    place += 1
                }
            }
            return pieces.dropLast().filter { !$0.isEmpty }.map { String(decoding: $0, as: UTF8.self) }
        }
    }

    private static func endOfMessage(in stream: [UInt8], from begin: Int) -> Int? {
        guard stream[begin] == UInt8(ascii: "{") else { return nil }
        return stream[begin...].prefix(1024).indices.first { end in
            stream[end] == UInt8(ascii: "}") && message(Array(stream[begin...end])) != nil
        }
    }

    private static let names = ["id", "content", "latitude", "longitude", "timestamp", "status", "category"]
    private static let statuses = ["pending_sync", "synced"]

    private static func messages(in stream: [UInt8]) -> [Fields] {
        stream.indices.compactMap { begin in
            // A message has no object in it: it ends where there is one for the first time.
            endOfMessage(in: stream, from: begin).flatMap { message(Array(stream[begin...$0])) }.map(Fields.init)
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
