public import LineProtocol

/// Follows what a peer says, through losses of its link.
public typealias PeerMonitor = LinkFollowing<PeerPiece>

extension PeerMonitor {
    /// What the peer says from now on. `Hello` is said to it first, over each link.
    ///
    /// - Parameter link: As of ``init(over:_:listen:)``, as is `reconnector`.
    public convenience init(over link: any Link, _ reconnector: Reconnector) {
        self.init(over: link, reconnector) { link in
            do throws(LinkError) {
                try await link.send(PeerCommand.hello.bytes(keepsPacketBounds: link.keepsPacketBounds))
            } catch {
                // What came before the link broke is still there to be read, and the loss is told behind it.
                guard error.code == .disconnected else { throw error }
            }
            var pieces = PeerPieces(over: link).makeAsyncIterator()
            return { try await pieces.next() }
        }
    }
}
