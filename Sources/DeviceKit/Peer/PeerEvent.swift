public import LineProtocol

/// Something that came about at a link to a peer, for people (``description``) and for programs (as JSON).
///
/// In JSON it has the key `event`, and those of the others that it has: `host`, `host_time`, `text`, `characters`, `hex`,
/// `continued`, `toggle`, `file`, `bytes`, `error`.
public struct PeerEvent: Sendable, Hashable {
    /// What it is.
    public enum Kind: String, Sendable, Hashable, CaseIterable, Encodable {
        /// The peer greets: ``PeerEvent/host`` and ``PeerEvent/hostTime``.
        case greeting
        /// The peer acknowledges a `Hello`.
        case acknowledged
        /// A message, or a part of one: ``PeerEvent/text`` and ``PeerEvent/characters``.
        case text
        /// A message that is not UTF-8: ``PeerEvent/hex``.
        case bytes
        /// ``PeerEvent/toggle`` says to which position.
        case toggle
        /// An image is announced, as ``PeerEvent/file`` of so many ``PeerEvent/bytes``.
        case imageBegins = "image_begins"
        /// All of the image has come.
        case imageEnds = "image_ends"
        /// What came is no image as it was announced.
        case imageFailed = "image_failed"
        /// The peer has no image to send.
        case imageRefused = "image_refused"
        /// The link is lost.
        case lost
        /// The peer is back.
        case back
    }

    /// What it is.
    public let kind: Kind
    /// Who greets.
    public private(set) var host: String?
    /// The time by the clock of who greets.
    public private(set) var hostTime: String?
    /// What a message says.
    public private(set) var text: String?
    /// How many characters it has.
    public private(set) var characters: Int?
    /// A message that is not UTF-8, byte by byte.
    public private(set) var hex: String?
    /// Whether this goes on a message that was too long for one event.
    public private(set) var continued: Bool?
    /// `on` or `off`.
    public private(set) var toggle: String?
    /// What the peer calls its image.
    public private(set) var file: String?
    /// The size of an image that is announced; of one that failed, how many of its bytes had come.
    public private(set) var bytes: Int?
    /// Why an image failed or was refused, as a word of the protocol.
    public private(set) var error: String?

    private init(kind: Kind) { self.kind = kind }

    /// The event that a piece is; nil for what an image holds.
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

    /// The event of a ``PeerMonitor``; nil for what an image holds.
    public init?(_ element: PeerMonitor.Element) {
        switch element {
        case .heard(let piece): self.init(piece)
        case .lost: self.init(kind: .lost)
        case .back: self.init(kind: .back)
        }
    }

    /// Whether it is what people at the peer say, and not the protocol.
    public var isSaidByPeople: Bool { kind == .text || kind == .bytes || kind == .toggle }
}

extension PeerEvent: CustomStringConvertible {
    /// The event on a line, with as much of a message as a peer shows. What strangers wrote is escaped.
    public var description: String {
        switch kind {
        case .greeting: "greeting from \(Self.safe(host)), whose time is \(Self.safe(hostTime))"
        case .acknowledged: "Hello acknowledged"
        case .toggle: "toggle \(toggle ?? "")"
        case .text: "text  \(shown(text ?? "", characters ?? 0, "characters"))"
        case .bytes: "bytes \(shown(hex ?? "", ((hex ?? "").count + 1) / 3, "bytes"))"
        case .imageBegins: "image \(Self.safe(file)), \((bytes ?? 0).counted("byte"))"
        case .imageEnds: "image is whole"
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
