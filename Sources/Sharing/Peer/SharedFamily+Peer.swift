internal import DeviceKit
internal import LineProtocol

extension SharedFamily {
    static let peer = SharedFamily(.peer) { link, _ in PeerRules(keepsPacketBounds: link.keepsPacketBounds) }
}
