internal import DeviceKit
internal import LineProtocol

extension SharedFamily {
    static let peer = SharedFamily(.peer, content: .image) { link, _ in
        PeerRules(keepsPacketBounds: link.keepsPacketBounds)
    }
}
