import LineProtocol

/// Something that a peer said, as people and programs are told of it.
struct PeerEvent: Encodable {
    var time: String
    var event: String
    var host: String?
    var hostTime: String?
    var text: String?
    var characters: Int?
    var hex: String?
    /// Whether this goes on a message that was too long for one event.
    var continued: Bool?
    var toggle: String?
    var file: String?
    var bytes: Int?
    var error: String?

    enum CodingKeys: String, CodingKey {
        case time, event, host, text, characters, hex, continued, toggle, file, bytes, error
        case hostTime = "host_time"
    }

    init(_ event: String, at time: WallTime = .now) {
        self.event = event
        self.time = time.iso8601
    }

    /// The event that a piece is; nil for what an image holds.
    init?(_ piece: PeerPiece, at time: WallTime = .now) {
        switch piece {
        case .greeting(let greeting):
            self.init("greeting", at: time)
            (host, hostTime) = (greeting.host, greeting.time)
        case .acknowledgement: self.init("acknowledged", at: time)
        case .toggle(let isOn):
            self.init("toggle", at: time)
            toggle = isOn ? "on" : "off"
        case .text(let text):
            if let string = text.string {
                self.init("text", at: time)
                (self.text, characters) = (string, string.count)
            } else {
                self.init("bytes", at: time)
                hex = text.bytes.hexadecimal
            }
            if text.isContinuation { continued = true }
        case .imageBegins(let image):
            self.init("image_begins", at: time)
            (file, bytes) = (image.name, image.byteCount)
        case .imageEnds: self.init("image_ends", at: time)
        case .imageFailed(let error):
            self.init("image_failed", at: time)
            (file, bytes, self.error) = (error.image?.name, error.byteCount, error.code.rawValue)
        case .imageRefused(let reason):
            self.init("image_refused", at: time)
            error = reason
        case .imageData, .leftOut: return nil
        }
    }

    /// Whether it is what people at the peer say, and not the protocol.
    var isSaidByPeople: Bool { text != nil || hex != nil || toggle != nil }

    /// The event for people. What strangers wrote is escaped.
    var phrase: String {
        switch event {
        case "greeting": "greeting from \(Self.safe(host)), whose time is \(Self.safe(hostTime))"
        case "acknowledged": "Hello acknowledged"
        case "toggle": "toggle \(toggle ?? "")"
        case "text": "text  \(shown(text ?? "", characters ?? 0, "characters"))"
        case "bytes": "bytes \(shown(hex ?? "", ((hex ?? "").count + 1) / 3, "bytes"))"
        case "image_begins": "image \(Self.safe(file)), \(bytes ?? 0) bytes"
        case "image_ends": "image is whole"
        case "image_failed": "image failed: \(error ?? "")"
        case "image_refused": "no image: \(Self.safe(error))"
        default: event
        }
    }

    /// As much of a message as a peer shows.
    private func shown(_ text: String, _ count: Int, _ unit: String) -> String {
        let limit = PeerText.shownCharacters
        let start = (continued == true ? "…" : "") + Self.safe(String(text.prefix(unit == "bytes" ? limit * 3 : limit)))
        return count > limit ? start + "… (the first \(limit) of \(count) \(unit))" : start
    }

    private static func safe(_ text: String?) -> String { Array((text ?? "").utf8).printable() }
}
