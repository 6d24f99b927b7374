/// The output of a peer as an asynchronous sequence, including images.
///
///     for try await piece in PeerPieces(over: link) {
///         if case .text(let text) = piece { … }
///     }
public struct PeerPieces: AsyncSequence, Sendable {
    public typealias Element = PeerPiece
    public typealias Failure = LinkError

    private let link: any Link

    /// Creates the sequence of pieces that arrive on `link` from now on, until the link is closed.
    public init(over link: any Link) { self.link = link }

    public func makeAsyncIterator() -> Iterator { Iterator(link) }

    /// Reads from the link when no piece is left. After the last piece, ``next()`` throws if the far end is gone, and
    /// returns nil if the link was closed at this end. A cancelled read throws as well, but does not end the sequence.
    public struct Iterator: AsyncIteratorProtocol {
        private let link: any Link
        private var decoder: PeerDecoder
        private var pieces: ArraySlice<PeerPiece> = []
        private var end: Result<Void, LinkError>?

        init(_ link: any Link) {
            self.link = link
            decoder = PeerDecoder(keepsPacketBounds: link.keepsPacketBounds)
        }

        public mutating func next() async throws(LinkError) -> PeerPiece? {
            while true {
                if let piece = pieces.popFirst() { return piece }
                if let end {
                    try end.get()
                    return nil
                }
                do throws(LinkError) {
                    if let bytes = try await link.receive() {
                        pieces = decoder.append(bytes)[...]
                        continue
                    }
                    end = .success(())
                } catch {
                    guard error.code != .cancelled else { throw error }
                    end = .failure(error)
                }
                pieces = decoder.finish()[...]
            }
        }

        public mutating func next(isolation actor: isolated (any Actor)?) async throws(LinkError) -> PeerPiece? {
            try await next()
        }
    }
}
