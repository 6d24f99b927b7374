/// The messages that arrive on a link, as an asynchronous sequence. Data that is not a message becomes an element,
/// ``RescueArrival/malformed(_:)``.
///
///     for try await arrivals in RescueArrivals(over: link) {
///         for case .message(let message) in arrivals { … }
///     }
///
/// Each element contains the arrivals that one read of the link completes, at least one. If the end of the link cuts
/// off a message, the last element reports it.
public struct RescueArrivals: AsyncSequence, Sendable {
    public typealias Element = [RescueArrival]
    public typealias Failure = LinkError

    private let link: any Link

    /// Creates the sequence of messages that arrive on `link` from now on, until the link is closed.
    public init(over link: any Link) { self.link = link }

    public func makeAsyncIterator() -> Iterator { Iterator(link) }

    /// Reads from the link on demand. ``next()`` throws if the far end is gone or the task is cancelled, after all
    /// arrivals were delivered. Either ends the sequence: further calls throw the same error.
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

/// A message, or data that is not a message.
public enum RescueArrival: Sendable, Hashable {
    /// A message.
    case message(RescueMessage)
    /// Data that is not a message.
    case malformed(RescueError)

    /// Parses a piece from a framer.
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
