/// What is asked of the program that keeps the messages, a line each: fields between tabs.
///
/// All that was asked since the last ``commit`` is done by the next one, in one piece, and then acknowledged by
/// ``Answer/committed(isNew:)``; or none of it, which ``Answer/refused(_:)`` says.
public enum MessageRequest: Sendable, Hashable {
    /// Keep a message, if its id is not there yet.
    case store(StoredMessage)
    /// Mark the message of that id as handed on.
    case markSynced(id: String)
    /// Do what was asked.
    case commit

    /// The request on one line without its end.
    public var line: String {
        switch self {
        case .store(let message): (["store"] + message.fields).joined(separator: "\t")
        case .markSynced(let id): "synced\t" + JSONText.quoted(id)
        case .commit: "commit"
        }
    }

    /// Reads a line; nil if it is none of a request.
    public init?(line: Substring) {
        let fields = line.fields
        switch (fields.first, fields.count) {
        case ("store", _):
            guard let message = StoredMessage(fields: fields[1...]) else { return nil }
            self = .store(message)
        case ("synced", 2):
            guard let id = JSONText.unquoted(fields[1]) else { return nil }
            self = .markSynced(id: id)
        case ("commit", 1): self = .commit
        default: return nil
        }
    }
}
