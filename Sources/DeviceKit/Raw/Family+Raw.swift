internal import LineProtocol

extension Family {
    /// A device of no family that is known here. Its lines pass as they are: it is asked nothing by itself, and what it says
    /// is given no meaning.
    ///
    /// Another program that asks for OFF takes the device for a pump, and is served as if it had the device to itself.
    public static let raw = Family(
        name: "raw", device: "a device of an unknown family", baudRate: 115_200,
        reasonForNoStop: "pumpctl does not know how to stop it", wire: WireRules(stop: pump.wire.stop))
}
