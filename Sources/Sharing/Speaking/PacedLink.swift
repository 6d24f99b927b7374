internal import DeviceKit
internal import LineProtocol

/// A link to a device that reads its receive buffer so rarely that a long line would overflow the buffer. Long writes
/// are split into pieces, with pauses between them in which the device reads.
final class PacedLink: LinkWrapper {
    let link: any Link
    /// The maximum number of bytes in one write.
    private let pieceLength: Int
    private let pause: Duration
    private let clock: any Clock<Duration>

    init(_ link: any Link, pieceLength: Int, pause: Duration, clock: any Clock<Duration>) {
        self.link = link
        self.pieceLength = pieceLength
        self.pause = pause
        self.clock = clock
    }

    func sendAtOnce(_ bytes: [UInt8]) throws(LinkError) -> Bool {
        bytes.count > pieceLength ? false : try link.sendAtOnce(bytes)
    }

    func send(_ bytes: [UInt8]) async throws(LinkError) {
        var rest = bytes[...]
        while rest.count > pieceLength {
            try await link.send(Array(rest.prefix(pieceLength)))
            rest = rest.dropFirst(pieceLength)
            guard (try? await clock.sleep(for: pause)) != nil else {
                throw LinkError(.cancelled, name: name, activity: "send")
            }
        }
        try await link.send(Array(rest))
    }
}
