public import RecordFormat

/// A message of the family rescue, as it is kept.
public struct StoredMessage: Sendable, Hashable {
    /// Whether a message was handed on.
    public enum Status: String, Sendable, Hashable {
        /// It was not: each message that comes in is kept so.
        case pendingSync = "pending_sync"
        /// It was.
        case synced
    }

    /// An upper-case UUID. A message whose id is there already is not kept again.
    public var id: String
    /// `Road Closure`, `Flooding`, `Shelter`, `Resource`, `SOS`, `Other`.
    public var category: String
    /// What it says.
    public var text: String
    /// Degrees north.
    public var latitude: Double
    /// Degrees east.
    public var longitude: Double
    /// Where it came from; nil where the carrier does not say.
    public var sender: String?
    /// When it was written, as its writer says: seconds since 2001-01-01T00:00:00Z.
    public var timestamp: Double
    /// When it came in.
    public var received: RecordTime
    /// Whether it was handed on.
    public var status = Status.pendingSync

    /// A message that came in, and was not handed on.
    public init(
        id: String, category: String, text: String, latitude: Double, longitude: Double, sender: String?,
        timestamp: Double, received: RecordTime
    ) {
        self.id = id
        self.category = category
        self.text = text
        self.latitude = latitude
        self.longitude = longitude
        self.sender = sender
        self.timestamp = timestamp
        self.received = received
    }
}
