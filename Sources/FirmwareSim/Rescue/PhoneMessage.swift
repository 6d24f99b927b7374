public import FoundationEssentials

/// A message as the phone app handles it: Foundation reads and writes its JSON, dates included.
public struct PhoneMessage: Codable, Sendable, Hashable {
    /// The unique identifier.
    public var id: UUID
    /// The text that somebody has written.
    public var content: String
    /// Degrees north.
    public var latitude: Double
    /// Degrees east.
    public var longitude: Double
    /// The time of writing; on the wire, seconds since 2001-01-01T00:00:00Z.
    public var timestamp: Date
    /// `pending_sync` or `synced`.
    public var status: String
    /// The kind of message, such as `Flooding`.
    public var category: String

    /// The message as it is on the wire; empty if a coordinate or the timestamp is not a finite number.
    public var json: [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        // Encoding fails only for numbers that JSON can't express.
        return (try? encoder.encode(self)).map { Array($0) } ?? []
    }

    /// Reads a message; nil if the JSON is no message, which the app ignores.
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
