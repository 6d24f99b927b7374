public import LineProtocol

/// An event on a link to a peer, for people (``description``) and for programs (as JSON).
///
/// The JSON object has the key `event` and, as far as they apply, the keys `host`, `host_time`, `text`, `characters`,
/// `hex`, `continued`, `toggle`, `file`, `bytes` and `error`.
public struct PeerEvent: Sendable, Hashable {
    /// The kinds of events.
    public enum Kind: String, Sendable, Hashable, CaseIterable, Encodable {
        /// The peer has sent a greeting; see ``PeerEvent/host`` and ``PeerEvent/hostTime``.
        case greeting
        /// The peer has acknowledged a `Hello`.
        case acknowledged
        /// A message, or part of one; see ``PeerEvent/text`` and ``PeerEvent/characters``.
        case text
        /// A message that is not UTF-8; see ``PeerEvent/hex``.
        case bytes
        /// A toggle to the position ``PeerEvent/toggle``.
        case toggle
        /// The announcement of an image, with its name ``PeerEvent/file`` and its size ``PeerEvent/bytes``.
        case imageBegins = "image_begins"
        /// The image has arrived completely.
        case imageEnds = "image_ends"
        /// The received image, or its announcement, is not valid; see ``PeerEvent/error``.
        case imageFailed = "image_failed"
        /// The peer sends no image, or stops sending it; see ``PeerEvent/error``.
        case imageRefused = "image_refused"
        /// The link is lost.
        case lost
        /// The peer is back.
        case back
    }

    /// The kind of the event.
    public let kind: Kind
    /// The name `host` in the greeting `HELLO from host @ time`. This and all further properties are nil for events
    /// that do not have them.
    public private(set) var host: String?
    /// The time in a greeting, by the peer's clock.
    public private(set) var hostTime: String?
    /// The text of a message.
    public private(set) var text: String?
    /// The number of characters in the text.
    public private(set) var characters: Int?
    /// The bytes of a message that is not UTF-8, in hexadecimal with a space between two bytes.
    public private(set) var hex: String?
    /// Whether this event continues a message that was too long for one event; nil if it does not.
    public private(set) var continued: Bool?
    /// The position of a toggle: `on` or `off`.
    public private(set) var toggle: String?
    /// The peer's name for the image.
    public private(set) var file: String?
    /// The announced size of an image in bytes; for an image that failed, the number of bytes that were decoded.
    public private(set) var bytes: Int?
    /// The reason that an image failed, as a word of the protocol, or was refused, in the peer's words.
    public private(set) var error: String?

    private init(kind: Kind) { self.kind = kind }

    /// Creates the event for a piece from the peer. Returns nil for image data, also of a rejected image.
    public init?(_ piece: PeerPiece) {
        switch piece {
        case .greeting(let greeting):
            self.init(kind: .greeting)
            (host, hostTime) = (greeting.host, greeting.time)
        case .acknowledgement: self.init(kind: .acknowledged)
        case .toggle(let isOn):
            self.init(kind: .toggle)
            toggle = isOn ? "on" : "off"
        case .text(let text):
            if let string = text.string {
                self.init(kind: .text)
                (self.text, characters) = (string, string.count)
            } else {
                self.init(kind: .bytes)
                hex = text.bytes.hexadecimal
            }
            if text.isContinuation { continued = true }
        case .imageBegins(let image):
            self.init(kind: .imageBegins)
            (file, bytes) = (image.name, image.byteCount)
        case .imageEnds: self.init(kind: .imageEnds)
        case .imageFailed(let error):
            self.init(kind: .imageFailed)
            (file, bytes, self.error) = (error.image?.name, error.byteCount, error.code.rawValue)
        case .imageRefused(let reason):
            self.init(kind: .imageRefused)
            error = reason
        case .imageData, .leftOut: return nil
        }
    }

    /// Creates the event for an element of a ``PeerMonitor``. Returns nil for image data, also of a rejected image.
    public init?(_ element: PeerMonitor.Element) {
        switch element {
        case .heard(let piece): self.init(piece)
        case .lost: self.init(kind: .lost)
        case .back: self.init(kind: .back)
        }
    }

    /// Whether a person at the peer caused the event, and not the protocol.
    public var isSaidByPeople: Bool { kind == .text || kind == .bytes || kind == .toggle }
}

extension PeerEvent: CustomStringConvertible {
    /// The event on one line. A message is cut after `PeerText.shownCharacters` characters or bytes.
    /// Control characters are escaped.
    public var description: String {
        switch kind {
        case .greeting: "greeting from \(Self.safe(host)), whose time is \(Self.safe(hostTime))"
        case .acknowledged: "Hello acknowledged"
        case .toggle: "toggle \(toggle ?? "")"
        case .text: "text  \(shown(text ?? "", characters ?? 0, "characters"))"
        case .bytes: "bytes \(shown(hex ?? "", ((hex ?? "").count + 1) / 3, "bytes"))"
        case .imageBegins: "image \(Self.safe(file)), \((bytes ?? 0).counted("byte"))"
        case .imageEnds: "image is complete"
        case .imageFailed: "image failed: \(error ?? "")"
        case .imageRefused: "no image: \(Self.safe(error))"
        case .lost, .back: kind.rawValue
        }
    }

    private func shown(_ text: String, _ count: Int, _ unit: String) -> String {
        let limit = PeerText.shownCharacters
        let start = (continued == true ? "…" : "") + Self.safe(String(text.prefix(unit == "bytes" ? limit * 3 : limit)))
        return count > limit ? start + "… (the first \(limit) of \(count) \(unit))" : start
    }

    private static func safe(_ text: String?) -> String { (text ?? "").printable() }
}

extension PeerEvent: Encodable {
    private enum CodingKeys: String, CodingKey {
        case kind = "event"
        case host, text, characters, hex, continued, toggle, file, bytes, error
        case hostTime = "host_time"
    }
}
