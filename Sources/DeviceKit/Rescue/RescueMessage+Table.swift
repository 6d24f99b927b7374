public import LineProtocol
internal import RecordFormat

extension RescueMessage {
    /// The largest size of `content` in bytes that always fits into a message, even if every byte must be escaped. JSON
    /// writes an escaped byte as six bytes (`\u001b`), and the other members of the message need the rest.
    public static let contentLimit = RescueFramer.lengthLimit / 8

    /// Creates a message that is written now and waits to be sent. If the clock of this computer is not in the years 1
    /// to 9999, the time is the beginning of 2001.
    ///
    /// - Parameters:
    ///   - content: The text.
    ///   - position: The position of the writer.
    ///   - category: The category.
    public init(writing content: String, at position: RescuePosition, category: RescueCategory) {
        let now = RescueTime(secondsSince1970: RecordTime.now.secondsSince1970)
        self.init(id: .random(), content: content, position: position, time: now ?? .beginning, category: category)
    }

    /// The time of writing, in ISO 8601.
    public var isoTime: String { RecordTime(secondsSince1970: time.secondsSince1970).iso8601 }

    // MARK: Tables

    /// The columns of a table of messages.
    public static let columns = ["id", "time", "status", "category", "latitude", "longitude", "content"]

    /// The message as a row of a table, in the order of ``columns``. The time is in ISO 8601, degrees are in WGS 84,
    /// and texts are unescaped: they may contain control characters.
    public var row: [String] {
        [
            "\(id)", isoTime, status.rawValue, category.rawValue, "\(position.latitude)", "\(position.longitude)",
            content,
        ]
    }

    /// The values of ``row`` by the names of ``columns``, with degrees as numbers.
    public var values: [String: StateValue] {
        var values = Dictionary(uniqueKeysWithValues: zip(Self.columns, row.map { StateValue.text($0) }))
        (values["latitude"], values["longitude"]) = (.number(position.latitude), .number(position.longitude))
        return values
    }
}
