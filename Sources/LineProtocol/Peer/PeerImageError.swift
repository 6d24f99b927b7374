/// Why an image was not taken.
public struct PeerImageError: Error, Sendable, Hashable {
    /// The receiver's checks, by the names that the protocol gives them.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// The line that begins the image names no file, or no size.
        case beginBadFormat = "begin_bad_format"
        /// It takes more base64 characters than ``PeerDecoder/characterLimit``.
        case tooLarge = "too_large"
        /// Its text is not base64.
        case base64Invalid = "base64_invalid"
        /// Its size is not the one that was announced.
        case sizeMismatch = "size_mismatch"
    }

    /// Which check failed.
    public var code: Code
    /// The image that was announced; nil where the announcement was malformed.
    public var image: PeerImage?
    /// How many bytes of it were decoded.
    public var byteCount: Int

    /// An error of the given kind.
    public init(_ code: Code, of image: PeerImage?, after byteCount: Int = 0) {
        self.code = code
        self.image = image
        self.byteCount = byteCount
    }
}

extension PeerImageError: CustomStringConvertible {
    public var description: String {
        switch code {
        case .beginBadFormat: "the image begins without a name and a size"
        case .tooLarge: "the image has more than \(PeerDecoder.characterLimit) base64 characters"
        case .base64Invalid: "the image is not base64"
        case .sizeMismatch:
            "the image has \(byteCount.counted("byte")), and the announced size is \(image?.byteCount ?? 0)"
        }
    }
}
