/// What can be looked up.
public enum RecordTable: String, Sendable, Hashable, CaseIterable {
    /// What devices have told; each reading is one JSON object.
    case readings
    /// What devices have told, a column for each name that occurs.
    case columns
    /// What has happened, and what went wrong.
    case events
    /// The sessions.
    case sessions

    /// The columns that it has in any case.
    public var columns: [String] {
        switch self {
        case .readings: Self.common + ["kind", "reading"]
        case .columns: Self.common + ["kind"]
        case .events: Self.common + ["event", "text"]
        case .sessions: Self.common + ["ended_ms", "ending", "readings", "events", "errors"]
        }
    }

    /// When, and of which session.
    private static let common = ["time_ms", "session", "family", "endpoint", "device"]
}

/// Which rows of a table are looked up.
public struct RecordFilter: Sendable, Hashable {
    /// From this time on.
    public var since: RecordTime?
    /// Before this time.
    public var until: RecordTime?
    /// Of this family.
    public var family: String?
    /// Of this device, by what it is known by or by the endpoint that it was at.
    public var device: String?

    /// All rows.
    public init() {}
}
