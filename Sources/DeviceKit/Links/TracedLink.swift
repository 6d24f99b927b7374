public import LineProtocol
internal import Synchronization

/// A link that shows what goes over it.
public final class TracedLink: LinkWrapper {
    /// What is shown.
    public enum Entry: Sendable, Hashable {
        /// Bytes are about to be sent, as they are handed to the link.
        case sends([UInt8])
        /// The line is about to be held in the break condition.
        case sendsBreak
        /// What was received: a packet, or else a line without its end, since a serial port gives it byte by byte.
        case received([UInt8])
        /// A device that may be gone is looked for.
        case confirms
        /// The link ended: lost with an error, closed without one.
        case ended(LinkError?)
    }

    public let link: any Link
    private let show: @Sendable (Entry) -> Void
    /// What was received of a line whose end has not come.
    private let framer = Mutex(LineFramer(limit: 256))

    /// Shows what goes over `link`.
    ///
    /// - Parameter show: Called with each entry, in order; must not block.
    public init(_ link: any Link, show: @escaping @Sendable (Entry) -> Void) {
        self.link = link
        self.show = show
    }

    /// False: what is sent is shown before it leaves, and so before its answer.
    public func sendAtOnce(_ bytes: [UInt8]) throws(LinkError) -> Bool { false }

    public func send(_ bytes: [UInt8]) async throws(LinkError) {
        show(.sends(bytes))
        try await link.send(bytes)
    }

    public func sendBreak(for duration: Duration) async throws(LinkError) {
        show(.sendsBreak)
        try await link.sendBreak(for: duration)
    }

    public func receive() async throws(LinkError) -> [UInt8]? {
        let bytes = try await link.receive()
        if let bytes { take(bytes) }
        return bytes
    }

    public func receiveAvailable() async throws(LinkError) -> [UInt8] {
        let bytes = try await link.receiveAvailable()
        take(bytes)
        return bytes
    }

    public func forward(to receiver: @escaping @Sendable (LinkArrival) -> Void) async {
        await link.forward { arrival in
            switch arrival {
            case .bytes(let bytes): self.take(bytes)
            case .ended(let error): self.show(.ended(error))
            }
            receiver(arrival)
        }
    }

    public func confirmConnection() async throws(LinkError) {
        show(.confirms)
        try await link.confirmConnection()
    }

    private func take(_ bytes: [UInt8]) {
        if keepsPacketBounds {
            if !bytes.isEmpty { show(.received(bytes)) }
            return
        }
        framer.withLock { framer in
            framer.append(bytes.span) { line, _ in show(.received(line.withUnsafeBufferPointer { Array($0) })) }
        }
    }
}
