internal import DeviceKit
internal import LineProtocol

extension SharedFamily {
    static let storm = SharedFamily(.storm, endsAnswersBySilence: true) { link, endpoint in
        StormRules(of: endpoint.stormCharacteristic, keepsPacketBounds: link.keepsPacketBounds)
    }
}
