/// What a peer says, as it comes, images too.
///
///     for try await piece in PeerPieces(over: link) {
///         if case .text(let text) = piece { … }
///     }
public struct PeerPieces: AsyncSequence, Sendable {
    public typealias Element = PeerPiece
    public typealias Failure = LinkError

    private let link: any Link

    /// What arrives on `link` from now on, until it is closed.
    public init(over link: any Link) { self.link = link }

    public func makeAsyncIterator() -> Iterator { Iterator(link) }

    /// Asks the link for more when it has no piece left. It throws when the far end is gone, behind what it had begun.
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
