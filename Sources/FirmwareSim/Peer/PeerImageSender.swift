/// The messages that send an image, in order. Each base64 line is made when its turn comes.
struct PeerImageSender: Sendable {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    private let name: String
    private let image: [UInt8]
    private let fault: PeerFirmwareOptions.ImageFault?
    private let chunkLength: Int
    private var step = Step.begin

    private enum Step {
        case begin
        /// The base64 line that begins at this character.
        case chunk(at: Int)
        case end
        case over
    }

    /// - Parameter longestMessage: The most bytes of a message; nil if there is no such limit. In either case, a base64
    ///   line has at most 180 characters (rule peer-17 in docs/protocols.md).
    init(_ image: [UInt8], _ options: PeerFirmwareOptions, longestMessage: Int? = nil) {
        self.image = image
        fault = options.imageFault
        chunkLength = min(max(1, options.chunkLength), longestMessage ?? .max, 180)
        name =
            longestMessage.map { Self.shortened(options.imageName, to: $0 - "IMG_BEGIN  \(image.count)".count) }
            ?? options.imageName
    }

    /// Cuts a name to `byteCount` bytes, so that the size after it is not cut off. Keeps at least one character.
    private static func shortened(_ name: String, to byteCount: Int) -> String {
        var name = name
        while name.utf8.count > byteCount, name.count > 1 { name.removeLast() }
        return name
    }

    /// The number of base64 characters of the image, with the padding.
    private var characterCount: Int { (image.count + 2) / 3 * 4 }

    /// Returns the next message, without a line end; nil after the last one.
    mutating func next() -> [UInt8]? {
        switch step {
        case .begin:
            step = image.isEmpty ? .end : .chunk(at: 0)
            switch fault {
            case .noFileSelected, .notPNG: return fail()
            case .beginBadFormat: return Array("IMG_BEGIN \(name)".utf8)
            default: return Array("IMG_BEGIN \(name) \(image.count)".utf8)
            }
        case .chunk(let start):
            let end = min(start + chunkLength, characterCount)
            step = end < characterCount ? .chunk(at: end) : .end
            if fault == .base64Invalid { return padded(start..<end) }
            guard (start..<end).contains(characterCount / 2) else { return characters(start..<end) }
            switch fault {
            case .readFailed: return fail()
            case .stalls:
                step = .over
                return nil
            case .sizeMismatch: return next()
            default: return characters(start..<end)
            }
        case .end:
            step = .over
            return Array("IMG_END".utf8)
        case .over: return nil
        }
    }

    /// Returns the message that ends the image with the fault as its reason.
    private mutating func fail() -> [UInt8] {
        step = .over
        return Array("IMG_ERROR \(fault?.rawValue ?? "")".utf8)
    }

    /// Returns these characters, with padding in place of the first character in the group of four in the image's
    /// middle.
    private func padded(_ range: Range<Int>) -> [UInt8] {
        var characters = characters(range)
        let middle = characterCount / 8 * 4
        if range.contains(middle) { characters[middle - range.lowerBound] = UInt8(ascii: "=") }
        return characters
    }

    /// Returns the base64 characters of the image at these offsets.
    private func characters(_ range: Range<Int>) -> [UInt8] {
        range.map { index in
            let byte = index / 4 * 3
            func value(_ offset: Int) -> UInt32 { byte + offset < image.count ? UInt32(image[byte + offset]) : 0 }
            // Padding: this character would stand for no bit of the image.
            guard index % 4 < 2 || byte + index % 4 - 1 < image.count else { return UInt8(ascii: "=") }
            let bits = value(0) << 16 | value(1) << 8 | value(2)
            return Self.alphabet[Int(bits >> (18 - 6 * UInt32(index % 4)) & 0x3F)]
        }
    }
}
