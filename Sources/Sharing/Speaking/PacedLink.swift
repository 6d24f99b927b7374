internal import DeviceKit
internal import LineProtocol

/// A link to a device that reads only now and then, and keeps so little meanwhile that a long line would lose bytes: it goes out
/// in pieces, each of which the device has read before the next one comes.
final class PacedLink: LinkWrapper {
    let link: any Link
    /// The most bytes that are sent at once.
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
