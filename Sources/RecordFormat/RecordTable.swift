/// The tables that can be read from the record.
public enum RecordTable: String, Sendable, Hashable, CaseIterable {
    /// The readings, each as a JSON object.
    case readings
    /// The readings, with a column for each name that occurs.
    case columns
    /// The events and errors.
    case events
    /// The sessions.
    case sessions

    /// The fixed columns of the table.
    public var columns: [String] {
        switch self {
        case .readings: Self.common + ["kind", "reading"]
        case .columns: Self.common + ["kind"]
        case .events: Self.common + ["event", "text"]
        case .sessions: Self.common + ["ended_ms", "ending", "readings", "events", "errors"]
        }
    }

    /// The columns for the time and the session.
    private static let common = ["time_ms", "session", "family", "endpoint", "device"]
}

/// The conditions for rows of a table.
public struct RecordFilter: Sendable, Hashable {
    /// The earliest time; nil for no limit.
    public var since: RecordTime?
    /// The time before which the rows must be; nil for no limit.
    public var until: RecordTime?
    /// The family of the device; nil for any.
    public var family: String?
    /// The identity or the endpoint of the device; nil for any.
    public var device: String?

    /// Creates a filter for all rows.
    public init() {}
}
