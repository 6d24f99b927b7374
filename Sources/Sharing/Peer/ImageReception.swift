internal import DeviceKit
internal import LineProtocol
internal import StrictJSON

extension SharedContent {
    /// The image that is chosen at a peer.
    static let image = SharedContent(name: "image", line: PeerCommand.getImage.text) { ImageReception() }
}

/// The reception of a peer's image, which is checked to be base64 of the announced size.
struct ImageReception: Reception {
    private var decoder = PeerDecoder(keepsPacketBounds: false)
    private var image: PeerImage?
    private var isComplete = false
    private(set) var failure: ReceptionFailure?

    var hasBegun: Bool { image != nil }
    var byteCount: Int? { image?.byteCount }
    var name: String? { image?.name }
    var check: [String: JSONValue] { ["check": "size", "name": .text(name ?? "")] }

    mutating func take(_ bytes: [UInt8]) -> [UInt8] {
        var data: [UInt8] = []
        for piece in decoder.append(bytes) where failure == nil && !isComplete {
            switch piece {
            case .imageBegins(let image): self.image = image
            case .imageData(let bytes): data += bytes
            case .imageEnds: isComplete = true
            case .imageFailed(let error):
                failure = .damaged(code: error.code.rawValue, reason: "\(error)", hint: Self.hint(error.code))
            case .imageRefused(let reason): failure = .session(Self.error(.refused, deviceCode: reason))
            // Texts go to all clients, so a text that gets here is the rest of an image that was requested earlier.
            case .text, .greeting, .acknowledgement, .toggle, .leftOut: break
            }
        }
        return data
    }

    mutating func finish() -> [UInt8] {
        if !isComplete, failure == nil { failure = .session(Self.error(.noAnswer)) }
        return []
    }

    private static func error(_ code: SessionError.Code, deviceCode: String? = nil) -> SessionError {
        SessionError(code, command: PeerCommand.getImage.text, outcome: .nothingChanged, deviceCode: deviceCode)
    }

    private static func hint(_ code: PeerImageError.Code) -> String {
        switch code {
        case .beginBadFormat: "give the image at the peer a file name"
        case .tooLarge: "select a smaller image on the peer, and wait until it has sent this one"
        case .base64Invalid, .sizeMismatch: "transfer it again: data was lost or damaged in transit"
        }
    }
}
