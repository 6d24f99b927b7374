import FirmwareSim
import FoundationEssentials
import LineProtocol

/// Parses a phone's output with Foundation, independently of the host's code.
enum RescueOracle {
    /// A message's fields in normalized form.
    struct Fields: Hashable {
        var id: String
        var content: String
        var position: [Double]
        var seconds: Double
        var category: String
    }

    /// The messages delivered from `start` on, at any position of each link's stream.
    static func messages(_ tape: Tape, from start: Int) -> Set<Fields> {
        Set(tape.streams(from: start).flatMap(messages))
    }

    /// The pieces of text outside of messages that were delivered from `start` on, without spaces and line ends. The
    /// text after a stream's last message is left out, because it may be the beginning of another one.
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

    /// The position of the `}` that ends the message at `begin`; nil if there is no valid message of at most 1,024
    /// bytes.
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
            // A message contains no other object, so it ends at the first `}` that makes a valid message.
            endOfMessage(in: stream, from: begin).flatMap { message(Array(stream[begin...$0])) }.map(Fields.init)
        }
    }

    /// Parses a message; nil if it does not have each field once with a valid value.
    private static func message(_ json: [UInt8]) -> PhoneMessage? {
        // Any category is valid: a host hands on one that docs/protocols.md does not name.
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
