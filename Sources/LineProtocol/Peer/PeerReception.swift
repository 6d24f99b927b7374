/// The receiver's checks of one image: its base64 in, its bytes out, nothing gathered.
struct PeerReception: Sendable {
    let image: PeerImage
    private var decoder = Base64Decoder()
    private var byteCount = 0
    private var characterCount = 0
    /// How many characters came last.
    private var lastLength = 0
    /// Whether something came meanwhile that is neither base64 nor of the protocol: text for people, or damaged base64.
    var hasHeardText = false

    init(_ image: PeerImage) { self.image = image }

    /// Whether so many characters are what the image lacks, or as many as came last: a sender's lines are of one length,
    /// but for the last.
    func expects(_ length: Int) -> Bool { length == image.characterCount - characterCount || length == lastLength }

    /// Takes in the next characters.
    mutating func decode(_ characters: [UInt8]) throws(PeerImageError) -> [UInt8] {
        characterCount += characters.count
        lastLength = characters.count
        guard characterCount <= PeerDecoder.characterLimit else { throw error(.tooLarge) }
        guard let bytes = decoder.decode(characters) else { throw error(.base64Invalid) }
        byteCount += bytes.count
        return bytes
    }

    /// Nothing more comes.
    func finish() throws(PeerImageError) {
        guard decoder.isWhole else { throw error(.base64Invalid) }
        // Where nothing is missing, the text was text. Else it is what is missing.
        if byteCount != image.byteCount { throw error(hasHeardText ? .base64Invalid : .sizeMismatch) }
    }

    private func error(_ code: PeerImageError.Code) -> PeerImageError {
        PeerImageError(code, of: image, after: byteCount)
    }
}
