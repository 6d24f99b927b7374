internal import LineProtocol

extension Family {
    /// A device of an unknown family. Its lines pass unchanged and have no meaning; pumpctl sends no queries of its
    /// own.
    ///
    /// If another program requests OFF, the pump's OFF is sent to the device, because that program takes the device for
    /// a pump.
    public static let raw = Family(
        name: "raw", device: "a device of an unknown family", baudRate: 115_200,
        reasonForNoStop: "pumpctl does not know how to stop it", wire: WireRules(stop: pump.wire.stop))
}
