internal import StrictJSON

/// A stored message of the `rescue` family.
public struct StoredMessage: Sendable, Hashable {
    /// Whether a message was handed on: sent over a link to another phone, which acknowledges no message.
    public enum Status: String, Sendable, Hashable {
        /// The message was not handed on yet.
        case pendingSync = "pending_sync"
        /// The message was handed on.
        case synced
    }

    /// The ID, an upper-case UUID. A message with an ID that is already stored is not stored again.
    public var id: String
    /// The category: `Road Closure`, `Flooding`, `Shelter`, `Resource`, `SOS`, `Other`, or an unknown one.
    public var category: String
    /// The time at which the message was received.
    public var received: RecordTime
    /// Whether the message was handed on.
    public var status: Status
    /// The whole message as received, including unknown members: a JSON object on one line. Whether the message was
    /// handed on is in ``status``, not here.
    public var json: String

    /// Creates a message.
    ///
    /// - Parameters:
    ///   - id: The ID, an upper-case UUID.
    ///   - category: The category.
    ///   - received: The time at which the message was received.
    ///   - status: Whether the message was handed on.
    ///   - json: The whole message as a JSON object, without control characters.
    public init(id: String, category: String, received: RecordTime, status: Status = .pendingSync, json: String) {
        self.id = id
        self.category = category
        self.received = received
        self.status = status
        self.json = json
    }
}

extension StoredMessage {
    /// The fields that describe the message in a line to or from `pumpctl-record`.
    var fields: [String] {
        [JSONValue.quoted(id), JSONValue.quoted(category), "\(received.milliseconds)", status.rawValue, json]
    }

    /// Parses such fields; nil if they are no message.
    init?(fields: ArraySlice<Substring>) {
        let fields = Array(fields)
        guard fields.count == 5, let id = JSONValue.text(of: fields[0]), let category = JSONValue.text(of: fields[1]),
            let received = Int64(fields[2]), let status = Status(rawValue: String(fields[3])),
            fields[4].utf8.first == UInt8(ascii: "{"), fields[4].utf8.last == UInt8(ascii: "}")
        else { return nil }
        self.init(
            id: id, category: category, received: RecordTime(milliseconds: received), status: status,
            json: String(fields[4]))
    }
}

/// The conditions for messages.
public struct MessageFilter: Sendable, Hashable {
    /// The status; nil for any.
    public var status: StoredMessage.Status?
    /// The category; nil for any.
    public var category: String?
    /// The number of messages if only the last stored messages are wanted, latest first; nil for all, earliest first.
    public var newest: Int?

    /// Creates a filter. Without parameters, it accepts all messages.
    public init(status: StoredMessage.Status? = nil, category: String? = nil, newest: Int? = nil) {
        self.status = status
        self.category = category
        self.newest = newest
    }
}
