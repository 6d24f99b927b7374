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
    private let hasShownEnd = Mutex(false)

    /// Shows what goes over `link`.
    ///
    /// - Parameter show: Called with each entry, in order; must not block.
    public init(_ link: any Link, show: @escaping @Sendable (Entry) -> Void) {
        self.link = link
        self.show = show
    }

    /// As the link does. What was sent is shown right behind that, and so before its answer: nothing holds up what may be OFF.
    public func sendAtOnce(_ bytes: [UInt8]) throws(LinkError) -> Bool {
        do throws(LinkError) {
            guard try link.sendAtOnce(bytes) else { return false }
        } catch {
            show(.sends(bytes))
            throw error
        }
        show(.sends(bytes))
        return true
    }

    public func send(_ bytes: [UInt8]) async throws(LinkError) {
        show(.sends(bytes))
        try await link.send(bytes)
    }

    public func sendBreak(for duration: Duration) async throws(LinkError) {
        show(.sendsBreak)
        try await link.sendBreak(for: duration)
    }

    public func receive() async throws(LinkError) -> [UInt8]? {
        let bytes: [UInt8]?
        do throws(LinkError) { bytes = try await link.receive() } catch {
            showEnd(error)
            throw error
        }
        if let bytes { take(bytes) } else { showEnd(nil) }
        return bytes
    }

    public func receiveAvailable() async throws(LinkError) -> [UInt8] {
        let bytes: [UInt8]
        do throws(LinkError) { bytes = try await link.receiveAvailable() } catch {
            showEnd(error)
            throw error
        }
        take(bytes)
        return bytes
    }

    public func forward(to receiver: @escaping @Sendable (LinkArrival) -> Void) async {
        await link.forward { arrival in
            switch arrival {
            case .bytes(let bytes): self.take(bytes)
            case .ended(let error): self.showEnd(error)
            }
            receiver(arrival)
        }
    }

    public func confirmConnection() async throws(LinkError) {
        show(.confirms)
        try await link.confirmConnection()
    }

    /// However it is read, a link ends once.
    private func showEnd(_ error: LinkError?) {
        if error?.code == .cancelled { return }
        let isFirst = hasShownEnd.withLock { hasShown in
            defer { hasShown = true }
            return !hasShown
        }
        if isFirst { show(.ended(error)) }
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
