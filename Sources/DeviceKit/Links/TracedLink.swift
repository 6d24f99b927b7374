public import LineProtocol
internal import Synchronization

/// A link that passes its traffic to a closure, for a person to read.
public final class TracedLink: LinkWrapper {
    /// A shown occurrence.
    public enum Entry: Sendable, Hashable {
        /// The bytes of one call of `send` or `sendAtOnce`.
        case sends([UInt8])
        /// A break condition is about to be sent.
        case sendsBreak
        /// Received bytes: a packet or, on a link without packet bounds, a line without its end. A line of more than
        /// 256 bytes is shown in pieces. A line whose end has not arrived when the link ends is not shown.
        case received([UInt8])
        /// The link checks whether the device is still connected.
        case confirms
        /// The link ended, as receiving has reported: lost with an error, closed without one. Shown once.
        case ended(LinkError?)
    }

    public let link: any Link
    private let show: @Sendable (Entry) -> Void
    /// The incomplete line that was received.
    private let framer = Mutex(LineFramer(limit: 256))
    private let hasShownEnd = Mutex(false)

    /// Shows the traffic on `link`.
    ///
    /// - Parameters:
    ///   - link: An open link.
    ///   - show: Called with each entry, in order; must not block.
    public init(_ link: any Link, show: @escaping @Sendable (Entry) -> Void) {
        self.link = link
        self.show = show
    }

    /// Sends before showing, because the bytes may be OFF, which nothing may delay. The bytes are still shown before
    /// their answer.
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

    /// Shows the end of the link once, when receiving reports the end. A cancelled call does not end the link.
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
