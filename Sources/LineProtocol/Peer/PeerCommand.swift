/// What a central can say to a peer.
public enum PeerCommand: Sendable, Hashable {
    /// Asks the peer to say `Hello ack`.
    case hello
    /// Switches whatever the peer switches.
    case toggle(Bool)
    /// Asks for an image.
    case getImage
    /// Text for people.
    case message(PeerMessage)

    /// The command as it is written on the wire, without a line end.
    public var text: String {
        switch self {
        case .hello: "Hello"
        case .toggle(let isOn): isOn ? "ON" : "OFF"
        case .getImage: "GET_IMAGE"
        case .message(let message): message.text
        }
    }

    /// The command as it is sent: where the link keeps packet bounds a packet of its own, else a line.
    public func bytes(keepsPacketBounds: Bool) -> [UInt8] {
        Array(text.utf8) + (keepsPacketBounds ? [] : [.lineFeed])
    }
}
