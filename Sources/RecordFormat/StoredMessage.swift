/// A message of the family rescue, as it is kept.
public struct StoredMessage: Sendable, Hashable {
    /// Whether a message was handed on.
    public enum Status: String, Sendable, Hashable {
        /// It was not.
        case pendingSync = "pending_sync"
        /// It was.
        case synced
    }

    /// An upper-case UUID. A message whose id is there already is not kept again.
    public var id: String
    /// `Road Closure`, `Flooding`, `Shelter`, `Resource`, `SOS`, `Other`, or one that nobody has named yet.
    public var category: String
    /// When it came in.
    public var received: RecordTime
    /// Whether it was handed on.
    public var status: Status
    /// All of it as it is on the wire: one JSON object on one line, with the fields that nobody knows. Whether it was
    /// handed on is told by ``status`` and not in here.
    public var json: String

    /// A message, `json` without a control character.
    public init(id: String, category: String, received: RecordTime, status: Status = .pendingSync, json: String) {
        self.id = id
        self.category = category
        self.received = received
        self.status = status
        self.json = json
    }
}

extension StoredMessage {
    /// The fields of a line that tells of it.
    var fields: [String] {
        [JSONText.quoted(id), JSONText.quoted(category), "\(received.milliseconds)", status.rawValue, json]
    }

    /// From the fields of a line; nil if they are none of a message.
    init?(fields: ArraySlice<Substring>) {
        let fields = Array(fields)
        guard fields.count == 5, let id = JSONText.unquoted(fields[0]), let category = JSONText.unquoted(fields[1]),
            let received = Int64(fields[2]), let status = Status(rawValue: String(fields[3])),
            fields[4].utf8.first == UInt8(ascii: "{"), fields[4].utf8.last == UInt8(ascii: "}")
        else { return nil }
        self.init(
            id: id, category: category, received: RecordTime(milliseconds: received), status: status,
            json: String(fields[4]))
    }
}

/// Which messages are looked up.
public struct MessageFilter: Sendable, Hashable {
    /// Of this status.
    public var status: StoredMessage.Status?
    /// Of this category.
    public var category: String?

    /// All messages, unless told otherwise.
    public init(status: StoredMessage.Status? = nil, category: String? = nil) {
        self.status = status
        self.category = category
    }
}
