/// Decodes and checks an image while it arrives, without storing it.
struct PeerReception: Sendable {
    let image: PeerImage
    private var decoder = Base64Decoder()
    private var byteCount = 0
    private var characterCount = 0
    /// The number of characters in the previous line.
    private var lastLength = 0
    /// Whether a line came between the lines of the image that is neither base64 nor defined by the protocol: text for
    /// people, or damaged base64.
    var hasHeardText = false

    init(_ image: PeerImage) { self.image = image }

    /// Whether a line of this length fits the image: the length equals the number of characters that the image still
    /// lacks, or the length of the previous line. A sender's lines have equal lengths, except the last.
    func expects(_ length: Int) -> Bool { length == image.characterCount - characterCount || length == lastLength }

    /// Takes the next characters, and returns the bytes that they complete.
    mutating func decode(_ characters: [UInt8]) throws(PeerImageError) -> [UInt8] {
        characterCount += characters.count
        lastLength = characters.count
        guard characterCount <= PeerDecoder.characterLimit else { throw error(.tooLarge) }
        guard let bytes = decoder.decode(characters) else { throw error(.base64Invalid) }
        byteCount += bytes.count
        return bytes
    }

    /// Checks the size of the image at its end.
    func finish() throws(PeerImageError) {
        guard decoder.isWhole else { throw error(.base64Invalid) }
        // If the size matches, a text that came in between was a message; otherwise it was damaged image data.
        if byteCount != image.byteCount { throw error(hasHeardText ? .base64Invalid : .sizeMismatch) }
    }

    private func error(_ code: PeerImageError.Code) -> PeerImageError {
        PeerImageError(code, of: image, after: byteCount)
    }
}
