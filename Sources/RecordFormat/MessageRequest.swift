internal import StrictJSON

/// A request to `pumpctl-record` about messages: a line with fields separated by tabs.
///
/// A ``commit`` carries out all requests since the last one in a single transaction, and is answered by
/// ``Answer/committed(isNew:)``; or it carries out none and is answered by ``Answer/refused(_:)``.
public enum MessageRequest: Sendable, Hashable {
    /// Stores a message, unless its ID is already stored.
    case store(StoredMessage)
    /// Marks the message with this ID as handed on.
    case markSynced(id: String)
    /// Carries out the requests since the last commit.
    case commit

    /// The request as a line, without its end.
    public var line: String {
        switch self {
        case .store(let message): (["store"] + message.fields).joined(separator: "\t")
        case .markSynced(let id): "synced\t" + JSONValue.quoted(id)
        case .commit: "commit"
        }
    }

    /// Parses a line; nil if it is no request.
    public init?(line: Substring) {
        let fields = line.fields
        switch (fields.first, fields.count) {
        case ("store", _):
            guard let message = StoredMessage(fields: fields[1...]) else { return nil }
            self = .store(message)
        case ("synced", 2):
            guard let id = JSONValue.text(of: fields[1]) else { return nil }
            self = .markSynced(id: id)
        case ("commit", 1): self = .commit
        default: return nil
        }
    }
}
