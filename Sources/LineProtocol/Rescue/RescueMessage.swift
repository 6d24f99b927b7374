internal import StrictJSON

/// A message that phones pass on from one to the next until the message has reached somebody.
///
///     let message = RescueMessage(
///         id: .random(), content: "Hamilton Hall flooding",
///         position: RescuePosition(latitude: 35.911595, longitude: -79.048759)!,
///         time: RescueTime(secondsSince2001: 752_263_200.5)!, category: .flooding)
///     try await link.send(message.json)
public struct RescueMessage: Sendable, Hashable {
    /// The unique ID.
    public var id: RescueID
    /// The text that a person wrote. The text may contain any character.
    public var content: String
    /// The place that the message is about.
    public var position: RescuePosition
    /// The time of writing, by the author's clock.
    public var time: RescueTime
    /// Whether the message was handed on.
    public var status: RescueStatus
    /// The kind of the message.
    public var category: RescueCategory
    /// Fields that this protocol does not define, in order. ``json`` includes them, so that they are passed on.
    public var otherFields: [RescueField]

    /// Creates a message. The default status is that the message waits to be handed on.
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

    /// Creates a position; nil if a coordinate is out of range, or not a number.
    public init?(latitude: Double, longitude: Double) {
        guard (-90...90).contains(latitude), (-180...180).contains(longitude) else { return nil }
        self.latitude = latitude
        self.longitude = longitude
    }
}

/// An instant in the years 1 to 9999, which ISO 8601 writes with four digits.
public struct RescueTime: Sendable, Hashable {
    /// The seconds since 2001-01-01T00:00:00Z, as on the wire.
    public let secondsSince2001: Double

    /// The instant 2001-01-01T00:00:00Z.
    public static let beginning = RescueTime(0)

    /// The seconds since 1970-01-01T00:00:00Z.
    public var secondsSince1970: Double { secondsSince2001 + Self.epoch }

    /// Creates an instant; nil if it is not in the years 1 to 9999, or not a number.
    public init?(secondsSince2001 seconds: Double) {
        guard (-63_113_904_000..<252_423_993_600).contains(seconds) else { return nil }
        self.init(seconds)
    }

    private init(_ seconds: Double) { secondsSince2001 = seconds }

    /// Creates an instant; nil if it is not in the years 1 to 9999, or not a number.
    public init?(secondsSince1970 seconds: Double) { self.init(secondsSince2001: seconds - Self.epoch) }

    /// 2001-01-01T00:00:00Z in seconds since 1970-01-01T00:00:00Z.
    private static let epoch = 978_307_200.0
}

/// Whether a message was handed on: sent over a link to another phone. No phone acknowledges a message.
public enum RescueStatus: String, Sendable, Hashable, CaseIterable {
    /// The message waits to be handed on.
    case pendingSync = "pending_sync"
    /// The message was handed on.
    case synced
}

/// A field of a message that this protocol does not define.
public struct RescueField: Sendable, Hashable {
    /// The name of the field.
    public let name: String
    /// The value as JSON on one line. The JSON is unchanged, except that characters that a terminal could obey are
    /// escaped, and invalid UTF-8 is replaced.
    public let json: [UInt8]

    init(name: String, json: [UInt8]) {
        self.name = name
        self.json = json.allSatisfy { (0x20..<0x7F).contains($0) } ? json : Self.harmless(json)
    }

    private static func harmless(_ json: [UInt8]) -> [UInt8] {
        var text = ""
        for scalar in String(decoding: json, as: UTF8.self).unicodeScalars {
            // ASCII control characters occur only as white space between tokens, other characters that are not shown
            // only in strings.
            if scalar.isShown {
                text.unicodeScalars.append(scalar)
            } else {
                text += scalar.value < 0x20 ? " " : scalar.escapeInJSON
            }
        }
        return Array(text.utf8)
    }
}
