import DeviceTestKit
import LineProtocol

/// A simulated link, and its far end in the same simulated time.
final class SimulatedFarEnd: FarEnd, @unchecked Sendable {
    // @unchecked: used on the simulated loop's thread only.

    private(set) var link: SimulatedLink!
    private var input: [UInt8] = []
    private let loop: SimulatedLoop
    private let came = AsyncStream<Void>.makeStream()

    /// The far end received no byte before the link's end.
    struct Ended: Error {}

    init(_ loop: SimulatedLoop) {
        self.loop = loop
        link = SimulatedLink(loop) { [weak self] bytes in
            self?.input += bytes
            self?.came.continuation.yield()
        } onEnd: { [came] in
            came.continuation.finish()
        }
    }

    func send(_ bytes: [UInt8]) async throws { if !bytes.isEmpty { link.arrive(bytes) } }

    /// Sends a part, as if the carrier's buffer were then full until the link reads.
    func sendUntilRefused(_ bytes: [UInt8]) async throws -> Int {
        try await send(Array(bytes.prefix(1 << 16)))
        return min(bytes.count, 1 << 16)
    }

    func receive(upTo count: Int) async throws -> [UInt8] {
        try await waitForBytes()
        defer { input.removeFirst(min(count, input.count)) }
        return Array(input.prefix(count))
    }

    func waitForBytes() async throws {
        if !input.isEmpty { return }
        for await _ in came.stream where !input.isEmpty { return }
        throw Ended()
    }

    func vanish() { link.drop() }
}
