public import LineProtocol
internal import Synchronization

/// Follows what a peer says, through losses of its link.
public typealias PeerMonitor = LinkFollowing<PeerPiece>

extension PeerMonitor {
    /// What the peer says from now on. `Hello` is said to it first, over each link.
    ///
    /// - Parameter link: As of ``init(over:_:listen:)``, as is `reconnector`.
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

/// A `Hello` that is being said, while the peer may say something itself: a write over BLE that it does not answer takes
/// 30 s to fail.
private final class Greeting: Sendable {
    private let error = Mutex<LinkError?>(nil)

    init(on link: any Link) {
        Task(executorPreference: link.executor) {
            do throws(LinkError) {
                try await link.send(PeerCommand.hello.bytes(keepsPacketBounds: link.keepsPacketBounds))
            } catch {
                // What came before the link broke is still there to be read, and the loss is told behind it.
                guard error.code != .disconnected else { return }
                self.error.withLock { $0 = error }
                await link.close()
            }
        }
    }

    /// Why it could not be said, once the link is closed.
    var result: Result<Void, LinkError> { error.withLock { $0.map { .failure($0) } ?? .success(()) } }
}
