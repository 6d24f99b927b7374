internal import DeviceKit
internal import LineProtocol

extension SharedFamily {
    static let storm = SharedFamily(.storm, endsAnswersBySilence: true, content: .log) { link, endpoint in
        StormRules(of: endpoint.stormCharacteristic, keepsPacketBounds: link.keepsPacketBounds)
    }
}
