public import LineProtocol
internal import RecordFormat

extension RescueMessage {
    /// The most bytes of ``content`` that fit into a message in any case, all of them escaped.
    public static let contentLimit = RescueFramer.lengthLimit / 8

    /// A message that is written now, and waits to be handed on. Where the clock of this machine is out of all years it is
    /// of the beginning of 2001.
    public init(writing content: String, at position: RescuePosition, category: RescueCategory) {
        let now = RescueTime(secondsSince1970: RecordTime.now.secondsSince1970)
        self.init(id: .random(), content: content, position: position, time: now ?? .beginning, category: category)
    }

    /// When it was written, by ISO 8601.
    public var isoTime: String { RecordTime(secondsSince1970: time.secondsSince1970).iso8601 }

    // MARK: Tables

    /// What a table of messages has, column by column.
    public static let columns = ["id", "time", "status", "category", "latitude", "longitude", "content"]

    /// The message as a row of a table, in the order of ``columns``: the time by ISO 8601, degrees by WGS 84, and texts as
    /// strangers wrote them, which may hold any character.
    public var row: [String] {
        [
            "\(id)", isoTime, status.rawValue, category.rawValue, "\(position.latitude)", "\(position.longitude)",
            content,
        ]
    }

    /// The same values by the names of ``columns``, degrees as numbers.
    public var values: [String: StateValue] {
        var values = Dictionary(uniqueKeysWithValues: zip(Self.columns, row.map { StateValue.text($0) }))
        (values["latitude"], values["longitude"]) = (.number(position.latitude), .number(position.longitude))
        return values
    }
}
