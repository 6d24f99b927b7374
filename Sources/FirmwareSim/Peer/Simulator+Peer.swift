internal import Glibc

extension Simulator {
    /// The text and image peer, which waits for slow readers. A generated image has at most 10,000,000 bytes, which is
    /// more than any receiver accepts.
    ///
    /// Making the device throws ``DeviceFileError`` if the image can't be used.
    public static let peer = Simulator(
        "peer",
        options: [
            .baud(115_200), .unpaced,
            SimulatorOption(
                "name", .text, default: "QDevice1", help: "The name in the greeting, and over BLE."),
            PeerFirmwareOptions.imageOption,
            SimulatorOption("seed", .seed, default: "1", help: "The seed of a generated image."),
            SimulatorOption(
                "size", .number(PeerPicture.leastByteCount...10_000_000), default: "20000",
                help: "The size of a generated image, a PNG, in bytes.", valueName: "bytes"),
            PeerFirmwareOptions.chunkOption,
            .faults(
                own: PeerFirmwareOptions.ImageFault.allCases.map(\.rawValue),
                senseless: [
                    SenselessFault("stuck", "a peer has no error state; the fault read_failed fails each image")
                ]),
            PeerFirmwareOptions.intervalOption, PeerFirmwareOptions.acksOption,
        ],
        waitsForReader: true,
        make: { PeerFirmware(options: try PeerFirmwareOptions(settings: $0)) })
}

extension PeerFirmwareOptions {
    /// The option that names the image to send.
    static let imageOption = SimulatorOption("image", .file, help: "The PNG to send.", excludes: ["seed", "size"])
    /// The option for the length of the lines of an image.
    static let chunkOption = SimulatorOption(
        "chunk", .number(1...180), default: "180", help: "The number of base64 characters in a line of the image.")
    /// The option for the interval of the peer's own messages.
    static let intervalOption = SimulatorOption(
        "interval", .time(or: "off"), default: "off",
        help: "The time between two of the peer's own messages; 'off' for none.")
    /// The option that makes the peer acknowledge `Hello`.
    static let acksOption = SimulatorOption(
        "acks", .flag, help: "Acknowledge Hello, which the published peer does not do.")

    /// Reads the options of ``Simulator/peer``. The start time of the simulation is the current time.
    package init(settings: SimulatorSettings) throws(DeviceFileError) {
        self.init(
            carrier: .line(settings.lineRate), name: settings.text("name") ?? "", startTime: time(nil),
            seed: settings.seed(), imageByteCount: settings.number("size") ?? PeerPicture.leastByteCount,
            imageFault: settings.ownFault().flatMap(ImageFault.init),
            chunkLength: settings.number("chunk") ?? 180, interval: settings.time("interval"),
            acknowledges: settings.flag("acks"))
        if let path = settings.text("image") { send(try PeerImageFile(path: path)) }
    }

    /// Makes the peer send this image instead of a generated one.
    public mutating func send(_ file: PeerImageFile) {
        imageName = file.name
        image = file.bytes
    }
}
