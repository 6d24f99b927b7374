public import RecordFormat

/// Something that came about just now, as programs are told of it: with its own keys, and `time`, in ISO 8601.
///
/// ```swift
/// let line = try JSONEncoder().encode(Timed(PeerEvent(element)))
/// ```
public struct Timed<Event: Encodable>: Encodable {
    /// When it came about.
    public let time = RecordTime.now
    private let event: Event

    /// An event that comes about now. It is encoded as an object, which has no `time` itself.
    public init(_ event: Event) { self.event = event }

    private enum CodingKeys: CodingKey { case time }

    public func encode(to encoder: any Encoder) throws {
        try event.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(time.iso8601, forKey: .time)
    }
}
