/// The options of a simulated peer.
public struct PeerFirmwareOptions: Sendable, Hashable {
    /// The carrier of the peer's messages.
    public enum Carrier: Sendable, Hashable {
        /// A serial line with this rate. Each message is a line.
        case line(LineRate)
        /// BLE notifications and writes. Each is one message, without a line end.
        case notifications
    }

    /// A fault of the image.
    public enum ImageFault: String, Sendable, Hashable, CaseIterable {
        /// No file was selected.
        case noFileSelected = "no_file_selected"
        /// The selected file is not a PNG.
        case notPNG = "not_png"
        /// The file can't be read beyond its middle.
        case readFailed = "read_failed"
        /// The line that begins the image names no size.
        case beginBadFormat = "begin_bad_format"
        /// The image is larger than any receiver accepts, whatever size the options give.
        case tooLarge = "too_large"
        /// Padding stands in the middle of the base64 text, where every decoder rejects it. Unknown characters would
        /// not do: a decoder that skips them would accept the text, and make a smaller image.
        case base64Invalid = "base64_invalid"
        /// The line in the middle of the image is missing.
        case sizeMismatch = "size_mismatch"
        /// The peer stops sending the image in its middle.
        case stalls
    }

    /// The size of the largest image that a receiver accepts, in bytes: 7,000,000 base64 characters.
    public static let largestImage = 5_250_000

    /// The carrier of the peer's messages. On a serial port, the peer protocol uses 115200 baud, 8N1.
    public var carrier: Carrier
    /// The name in the peer's greeting.
    public var name: String
    /// The time at which the simulation begins, in seconds since 1970, for the greeting.
    public var startTime: Int
    /// The seed of a generated image.
    public var seed: UInt64
    /// The file name of the image.
    public var imageName: String
    /// The image to send, a PNG; nil for an image generated from ``seed`` and ``imageByteCount``.
    public var image: [UInt8]?
    /// The size of a generated image in bytes; ``PeerPicture/leastByteCount`` or more.
    public var imageByteCount: Int
    /// The fault of the image; nil for none.
    public var imageFault: ImageFault?
    /// The number of base64 characters in a line of the image, 1 to 180.
    public var chunkLength: Int
    /// The time between two messages that the peer sends on its own; nil for no such messages.
    public var interval: Duration?
    /// Whether the peer answers `Hello` by `Hello ack`, which the published peer does not do.
    public var acknowledges: Bool

    /// Creates options. By default, the peer has 115200 baud and an image of 20 kB, and sends nothing on its own.
    public init(
        carrier: Carrier = .line(.baud(115_200)), name: String = "QDevice1", startTime: Int = 0, seed: UInt64 = 1,
        imageName: String = "image.png", image: [UInt8]? = nil, imageByteCount: Int = 20_000,
        imageFault: ImageFault? = nil, chunkLength: Int = 180, interval: Duration? = nil, acknowledges: Bool = false
    ) {
        self.carrier = carrier
        self.name = name
        self.startTime = startTime
        self.seed = seed
        self.imageName = imageName
        self.image = image
        self.imageByteCount = imageByteCount
        self.imageFault = imageFault
        self.chunkLength = chunkLength
        self.interval = interval
        self.acknowledges = acknowledges
    }
}
