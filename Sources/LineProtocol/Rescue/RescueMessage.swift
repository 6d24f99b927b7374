/// A message that phones hand from one to the next until it has reached somebody.
///
///     let message = RescueMessage(
///         id: .random(), content: "Hamilton Hall flooding",
///         position: RescuePosition(latitude: 35.911595, longitude: -79.048759)!,
///         time: RescueTime(secondsSince2001: 752_263_200.5)!, category: .flooding)
///     try await link.send(message.json)
public struct RescueMessage: Sendable, Hashable {
    /// What tells it from all others.
    public var id: RescueID
    /// What somebody has written. It may hold any character.
    public var content: String
    /// What it is about.
    public var position: RescuePosition
    /// When it was written, by the clock of who wrote it.
    public var time: RescueTime
    /// Whether it was handed on.
    public var status: RescueStatus
    /// What kind of message it is.
    public var category: RescueCategory
    /// Fields that this protocol does not know, in their order. They are passed on.
    public var otherFields: [RescueField]

    /// A message that waits to be handed on, unless told otherwise.
    public init(
        id: RescueID, content: String, position: RescuePosition, time: RescueTime,
        status: RescueStatus = .pendingSync, category: RescueCategory, otherFields: [RescueField] = []
    ) {
        self.id = id
        self.content = content
        self.position = position
        self.time = time
        self.status = status
        self.category = category
        self.otherFields = otherFields
    }
}

/// A place on the Earth, by WGS 84.
public struct RescuePosition: Sendable, Hashable {
    /// Degrees north, -90 to 90.
    public let latitude: Double
    /// Degrees east, -180 to 180.
    public let longitude: Double

    /// Nil where that is no place: out of range, or no number.
    public init?(latitude: Double, longitude: Double) {
        guard (-90...90).contains(latitude), (-180...180).contains(longitude) else { return nil }
        self.latitude = latitude
        self.longitude = longitude
    }
}

/// An instant of the years 1 to 9999.
public struct RescueTime: Sendable, Hashable {
    /// Seconds since 2001-01-01T00:00:00Z, as on the wire.
    public let secondsSince2001: Double

    /// 2001-01-01T00:00:00Z.
    public static let beginning = RescueTime(0)

    /// Seconds since 1970-01-01T00:00:00Z.
    public var secondsSince1970: Double { secondsSince2001 + Self.epoch }

    /// Nil for what is in no such year, or no number.
    public init?(secondsSince2001 seconds: Double) {
        guard (-63_113_904_000..<252_423_993_600).contains(seconds) else { return nil }
        self.init(seconds)
    }

    private init(_ seconds: Double) { secondsSince2001 = seconds }

    /// Nil for what is in no such year, or no number.
    public init?(secondsSince1970 seconds: Double) { self.init(secondsSince2001: seconds - Self.epoch) }

    /// 2001-01-01T00:00:00Z in seconds since 1970-01-01T00:00:00Z.
    private static let epoch = 978_307_200.0
}

/// Whether a message was handed on.
public enum RescueStatus: String, Sendable, Hashable, CaseIterable {
    /// It waits to be handed on.
    case pendingSync = "pending_sync"
    /// It was handed on.
    case synced
}

/// A field of a message that this protocol does not know.
public struct RescueField: Sendable, Hashable {
    /// Its name.
    public let name: String
    /// Its value, as JSON on one line. It is as it came, but for what a terminal could take for a command, which is escaped,
    /// and what is no text.
    public let json: [UInt8]

    init(name: String, json: [UInt8]) {
        self.name = name
        self.json = json.allSatisfy { (0x20..<0x7F).contains($0) } ? json : Self.harmless(json)
    }

    private static func harmless(_ json: [UInt8]) -> [UInt8] {
        var text = ""
        for scalar in String(decoding: json, as: UTF8.self).unicodeScalars {
            // Only blanks between tokens are control characters of ASCII, and only strings have others.
            if scalar.value < 0x20 {
                text += " "
            } else if scalar.isInvisible {
                text += scalar.jsonEscape
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
        return Array(text.utf8)
    }
}
