public import FoundationEssentials

/// A message as the phone's app has it: Foundation reads and writes its JSON, dates included.
public struct PhoneMessage: Codable, Sendable, Hashable {
    /// What tells it from all others.
    public var id: UUID
    /// What somebody has written.
    public var content: String
    /// Degrees north.
    public var latitude: Double
    /// Degrees east.
    public var longitude: Double
    /// When it was written; on the wire seconds since 2001.
    public var timestamp: Date
    /// `pending_sync` or `synced`.
    public var status: String
    /// What kind of message it is, as `Flooding`.
    public var category: String

    /// As it is on the wire.
    public var json: [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        // Numbers that JSON has no words for are all that can't be encoded.
        return (try? encoder.encode(self)).map { Array($0) } ?? []
    }

    /// Reads a message; nil for what is none, as the app ignores it.
    public init?(json: [UInt8]) {
        guard let message = try? JSONDecoder().decode(PhoneMessage.self, from: Data(json)) else { return nil }
        self = message
    }

    init(
        id: UUID, content: String, latitude: Double, longitude: Double, timestamp: Date, status: String,
        category: String
    ) {
        self.id = id
        self.content = content
        self.latitude = latitude
        self.longitude = longitude
        self.timestamp = timestamp
        self.status = status
        self.category = category
    }
}
