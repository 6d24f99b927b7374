public import LineProtocol
internal import Synchronization

/// Follows the messages of a peer, and reconnects if the link is lost.
public typealias PeerMonitor = LinkFollowing<PeerPiece>

extension PeerMonitor {
    /// Follows the peer's messages from now on. Over each link, the monitor sends `Hello` first.
    ///
    /// - Parameters:
    ///   - link: See ``init(over:_:listen:)``.
    ///   - reconnector: See ``init(over:_:listen:)``.
    public convenience init(over link: any Link, _ reconnector: Reconnector) {
        self.init(over: link, reconnector) { link in
            let greeting = Greeting(on: link)
            var pieces = PeerPieces(over: link).makeAsyncIterator()
            return {
                if let piece = try await pieces.next() { return piece }
                try greeting.result.get()
                return nil
            }
        }
    }
}

/// Sends `Hello` while the peer may already send messages. Reading must not wait for the write: over BLE, a write that
/// the peer does not answer takes 30 s to fail.
private final class Greeting: Sendable {
    private let error = Mutex<LinkError?>(nil)

    init(on link: any Link) {
        Task(executorPreference: link.executor) {
            do throws(LinkError) {
                try await link.send(PeerCommand.hello.bytes(keepsPacketBounds: link.keepsPacketBounds))
            } catch {
                // Bytes that arrived before the disconnection can still be read. Reading then reports the loss.
                guard error.code != .disconnected else { return }
                self.error.withLock { $0 = error }
                await link.close()
            }
        }
    }

    /// The result of sending `Hello`, known when the link has ended: a failure closes the link. A disconnection is no
    /// failure here, because reading reports it.
    var result: Result<Void, LinkError> { error.withLock { $0.map { .failure($0) } ?? .success(()) } }
}
