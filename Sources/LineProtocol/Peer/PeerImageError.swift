/// The reason why an image was rejected.
public struct PeerImageError: Error, Sendable, Hashable {
    /// The checks of the receiver, with the protocol's names.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// The announcement of the image lacks a valid name or size.
        case beginBadFormat = "begin_bad_format"
        /// The image has more base64 characters than ``PeerDecoder/characterLimit``.
        case tooLarge = "too_large"
        /// The image is not valid base64. Also if its size is wrong and it has a line that is neither base64 nor of the
        /// protocol: that line is taken for damaged base64.
        case base64Invalid = "base64_invalid"
        /// The size differs from the announced size.
        case sizeMismatch = "size_mismatch"
    }

    /// The check that failed.
    public var code: Code
    /// The announcement of the image; nil if it was malformed.
    public var image: PeerImage?
    /// The number of bytes that were decoded.
    public var byteCount: Int

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - code: The check that failed.
    ///   - image: The announcement of the image; nil if it was malformed.
    ///   - byteCount: The number of bytes that were decoded.
    public init(_ code: Code, of image: PeerImage?, after byteCount: Int = 0) {
        self.code = code
        self.image = image
        self.byteCount = byteCount
    }
}

extension PeerImageError: CustomStringConvertible {
    public var description: String {
        switch code {
        case .beginBadFormat: "the announcement of the image lacks a valid name or size"
        case .tooLarge: "the image has more than \(PeerDecoder.characterLimit) base64 characters"
        case .base64Invalid: "the image is not base64"
        case .sizeMismatch:
            "the image has \(byteCount.counted("byte")), and the announced size is \(image?.byteCount ?? 0)"
        }
    }
}
