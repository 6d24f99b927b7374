/// The messages that arrive on a link, and what arrives in their stead.
///
///     for try await arrivals in RescueArrivals(over: link) {
///         for case .message(let message) in arrivals { … }
///     }
///
/// Each element is what one read of the link has completed, one arrival at least. The last holds what was cut off where
/// the link was closed.
public struct RescueArrivals: AsyncSequence, Sendable {
    public typealias Element = [RescueArrival]
    public typealias Failure = LinkError

    private let link: any Link

    /// The messages that arrive on `link` from now on, until it is closed.
    public init(over link: any Link) { self.link = link }

    public func makeAsyncIterator() -> Iterator { Iterator(link) }

    /// Asks the link for more. It throws when the far end is gone and all that came was handed out.
    public struct Iterator: AsyncIteratorProtocol {
        private let link: any Link
        private var framer = RescueFramer()
        private var ending: Result<Void, LinkError>?

        init(_ link: any Link) { self.link = link }

        public mutating func next() async throws(LinkError) -> [RescueArrival]? {
            while true {
                if let ending {
                    try ending.get()
                    return nil
                }
                let pieces = await read()
                if !pieces.isEmpty { return pieces.map(RescueArrival.init) }
            }
        }

        public mutating func next(isolation actor: isolated (any Actor)?) async throws(LinkError) -> [RescueArrival]? {
            try await next()
        }

        private mutating func read() async -> [RescueFramer.Piece] {
            do throws(LinkError) {
                if let bytes = try await link.receive() { return framer.append(bytes) }
                ending = .success(())
            } catch {
                ending = .failure(error)
            }
            return framer.finish()
        }
    }
}

/// A message, or what is none.
public enum RescueArrival: Sendable, Hashable {
    /// A message.
    case message(RescueMessage)
    /// Something that is no message.
    case malformed(RescueError)

    /// Reads what a framer has made out.
    public init(_ piece: RescueFramer.Piece) {
        switch piece {
        case .malformed(let error): self = .malformed(error)
        case .object(let json):
            do throws(RescueError) {
                self = .message(try RescueMessage(json: json))
            } catch {
                self = .malformed(error)
            }
        }
    }
}
