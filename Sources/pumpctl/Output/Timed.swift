import RecordFormat

/// Something that came about just now, as programs are told of it: with its own keys, and `time`.
struct Timed<Event: Encodable>: Encodable {
    let time = RecordTime.now
    private let event: Event

    init(_ event: Event) { self.event = event }

    private enum CodingKeys: CodingKey { case time }

    func encode(to encoder: any Encoder) throws {
        try event.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(time.iso8601, forKey: .time)
    }
}
