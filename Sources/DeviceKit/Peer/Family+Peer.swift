internal import LineProtocol

extension Family {
    /// The text and image peer on the Nordic UART Service, which speaks the peer protocol.
    public static let peer = Family(
        name: "peer", device: "a text and image peer", baudRate: 115_200,
        reasonForNoStop: "a peer takes OFF as a message: {toggle} off sends it",
        commands: [
            FamilyCommand(
                "say", sends: "{text}", "Show a text to the person at the peer.", effect: .change,
                parameters: [.init("text", "what is shown", .text(maximumByteCount: nil))]),
            FamilyCommand(
                "toggle", sends: "{state}", "Switch whatever the peer switches.", effect: .change,
                parameters: [.init("state", "on or off", .choice(["ON", "OFF"]))]),
            FamilyCommand("image get", sends: "GET_IMAGE", "Ask for the image chosen at the peer.", effect: .query),
        ],
        events: [
            FamilyEvent("HELLO from ", "The peer greets who has begun to listen."),
            FamilyEvent("IMG_BEGIN ", "An image follows: its name, and its size in bytes."),
            FamilyEvent("IMG_END", "The image is complete."),
        ],
        errors: [
            FamilyError(
                "no_file_selected", "No image is chosen at the peer.",
                remedy: "choose an image at the peer first, then fetch it again"),
            FamilyError(
                "not_png", "The file chosen at the peer is not a PNG.",
                remedy: "choose a PNG at the peer: it sends nothing else"),
            FamilyError(
                "read_failed", "The peer could not read the image.",
                remedy: "choose it again at the peer, which could not read it"),
        ],
        wire: WireRules(
            errorCode: { line, ending in
                let text = ending == .cut ? "" : line.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
                return text.hasPrefix("IMG_ERROR ") ? String(text.dropFirst("IMG_ERROR ".count)) : nil
            }, recognizes: { $0.starts(with: "HELLO from ".utf8) || $0.starts(with: "IMG_".utf8) }))
}
