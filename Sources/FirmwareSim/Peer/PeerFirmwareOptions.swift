/// Which peer to be.
public struct PeerFirmwareOptions: Sendable, Hashable {
    /// What carries what the peer says.
    public enum Carrier: Sendable, Hashable {
        /// A serial line, at this rate: each message is a line.
        case line(LineRate)
        /// Notifications: each message is one, without a line end, and so is each write of the central.
        case notifications
    }

    /// What is wrong with the image.
    public enum ImageFault: String, Sendable, Hashable, CaseIterable {
        /// Nothing was chosen to be sent.
        case noFileSelected = "no_file_selected"
        /// What was chosen is no PNG.
        case notPNG = "not_png"
        /// The file can't be read from its middle on.
        case readFailed = "read_failed"
        /// The line that begins the image gives no size.
        case beginBadFormat = "begin_bad_format"
        /// The image is larger than any receiver takes, whatever its size was to be.
        case tooLarge = "too_large"
        /// Padding stands in the middle, where no decoder takes it: one that skips unknown characters would make a smaller
        /// image of others.
        case base64Invalid = "base64_invalid"
        /// The line in the middle is left out.
        case sizeMismatch = "size_mismatch"
        /// The image stops in its middle.
        case stalls
    }

    /// The most bytes that a receiver takes: 7,000,000 base64 characters.
    public static let largestImage = 5_250_000

    /// What carries what it says. The peer protocol: 115200 8N1 on a serial port.
    public var carrier: Carrier
    /// The name that it greets by.
    public var name: String
    /// When the simulation begins, in seconds since 1970, for the time of the greeting.
    public var startTime: Int
    /// What the image depends on.
    public var seed: UInt64
    /// The name of the image.
    public var imageName: String
    /// The image to send, a PNG; nil for one made from ``seed`` and ``imageByteCount``.
    public var image: [UInt8]?
    /// The size of the image in bytes; ``PeerPicture/leastByteCount`` or more.
    public var imageByteCount: Int
    /// What is wrong with the image; nil for nothing.
    public var imageFault: ImageFault?
    /// How many base64 characters a line of the image has, 1 to 180.
    public var chunkLength: Int
    /// The time between two messages of its own; nil for none.
    public var interval: Duration?
    /// Whether `Hello` is answered by `Hello ack`, which the published peer does not do.
    public var acknowledges: Bool

    /// A peer with an image of 20 kB that says nothing by itself, at 115200 baud, unless told otherwise.
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
