/// A command or message from a host to a peer.
public enum PeerCommand: Sendable, Hashable {
    /// Asks the peer to reply `Hello ack`.
    case hello
    /// Switches the peer's toggle.
    case toggle(Bool)
    /// Requests an image.
    case getImage
    /// Sends text for people.
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

    /// Returns the bytes of the command: a packet without a line end if the link keeps packet bounds, else a line.
    public func bytes(keepsPacketBounds: Bool) -> [UInt8] {
        Array(text.utf8) + (keepsPacketBounds ? [] : [.lineFeed])
    }
}
