public import RecordFormat

/// An event with its time, encoded with the event's own keys and `time`, in ISO 8601.
///
/// ```swift
/// let line = try JSONEncoder().encode(Timed(PeerEvent(element)))
/// ```
public struct Timed<Event: Encodable>: Encodable {
    /// The time at which this value was created.
    public let time = RecordTime.now
    private let event: Event

    /// Gives an event the current time. The event must be encoded as an object without a key `time`.
    public init(_ event: Event) { self.event = event }

    private enum CodingKeys: CodingKey { case time }

    public func encode(to encoder: any Encoder) throws {
        try event.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(time.iso8601, forKey: .time)
    }
}
