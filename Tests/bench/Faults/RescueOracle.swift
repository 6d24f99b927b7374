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

    private static func messages(in stream: [UInt8]) -> [Fields] {
        let begins = stream.indices.filter { stream[$0] == UInt8(ascii: "{") }
        return begins.compactMap { begin in
            // A message has no object in it: it is the first that is one.
            for end in stream[begin...].prefix(1024).indices where stream[end] == UInt8(ascii: "}") {
                if let message = PhoneMessage(json: Array(stream[begin...end])) { return Fields(message) }
            }
            return nil
        }
    }

    /// Whether anything came that is of no message.
    static func hasRest(_ tape: Tape, from start: Int) -> Bool {
        tape.streams(from: start).contains { stream in
            var count = 0
            for byte in stream {
                if byte == UInt8(ascii: "{") { count += 1 }
                if byte == UInt8(ascii: "}") { count -= 1 }
            }
            return count != 0
        }
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
