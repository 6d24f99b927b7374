internal import LineProtocol

extension Family {
    /// The text and image peer on the Nordic UART Service, which speaks the peer protocol.
    public static let peer = Family(
        name: "peer", device: "a text and image peer", baudRate: 115_200,
        reasonForNoStop: "a peer has no emergency stop: {toggle} off sends OFF as a message",
        commands: [
            FamilyCommand(
                "say", sends: "{text}", "Show a text to the person at the peer.", effect: .change,
                parameters: [.init("text", "the text to show", .text(maximumByteCount: nil))]),
            FamilyCommand(
                "toggle", sends: "{state}", "Switch the peer's remote toggle.", effect: .change,
                parameters: [.init("state", "on or off", .choice(["ON", "OFF"]))]),
            FamilyCommand("image get", sends: "GET_IMAGE", "Ask for the image chosen at the peer.", effect: .query),
        ],
        events: [
            FamilyEvent("HELLO from ", "The peer's greeting to a new subscriber."),
            FamilyEvent("IMG_BEGIN ", "The start of an image: name and size in bytes."),
            FamilyEvent("IMG_END", "The image is complete."),
        ],
        errors: [
            FamilyError(
                "no_file_selected", "No image is chosen at the peer.",
                remedy: "choose an image at the peer first, then fetch it again"),
            FamilyError(
                "not_png", "The file chosen at the peer is not a PNG.",
                remedy: "choose a PNG at the peer: the peer sends no other format"),
            FamilyError(
                "read_failed", "The peer could not read the image.",
                remedy: "choose the image again at the peer"),
        ],
        wire: WireRules(
            errorCode: { line, ending in
                // The reason of a cut line may be incomplete, and then names another error or none.
                let text = ending == .cut ? "" : line.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
                return text.hasPrefix("IMG_ERROR ") ? String(text.dropFirst("IMG_ERROR ".count)) : nil
            }, recognizes: { $0.starts(with: "HELLO from ".utf8) || $0.starts(with: "IMG_".utf8) }))
}
