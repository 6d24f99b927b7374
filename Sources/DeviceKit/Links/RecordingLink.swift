public import LineProtocol
internal import Synchronization

/// A link that records what goes over it: line by line, or packet by packet where there are packets.
///
/// Each is an event, `received` or `sent`, with its text as it was. What is not UTF-8 is kept in hexadecimals, as
/// `received_hex` or `sent_hex`.
public final class RecordingLink: LinkWrapper {
    /// The longest line in bytes that is kept as one.
    public static let lineLimit = 1 << 16

    /// What is recorded.
    public enum Entry: Sendable, Hashable {
        /// A line or a packet: `received`, `sent`, `received_hex` or `sent_hex`.
        case event(kind: String, text: String)
        /// The link was lost.
        case lost(LinkError)
    }

    public let link: any Link
    private let record: @Sendable (Entry) -> Void
    /// What was received and sent of lines whose ends have not come.
    private let received = Mutex(LineFramer(limit: lineLimit))
    private let sent = Mutex(LineFramer(limit: lineLimit))

    /// Records what goes over `link`.
    ///
    /// - Parameter record: Called with each entry, in order; must not block.
    public init(_ link: any Link, record: @escaping @Sendable (Entry) -> Void) {
        self.link = link
        self.record = record
    }

    // MARK: Link

    public func send(_ bytes: [UInt8]) async throws(LinkError) {
        // Its answer may come before `send` returns. If it fails, part of it may have gone out.
        take(bytes, "sent", sent)
        do throws(LinkError) { try await link.send(bytes) } catch {
            take(error)
            throw error
        }
    }

    public func sendAtOnce(_ bytes: [UInt8]) throws(LinkError) -> Bool {
        guard try link.sendAtOnce(bytes) else { return false }
        take(bytes, "sent", sent)
        return true
    }

    public func receive() async throws(LinkError) -> [UInt8]? {
        let bytes: [UInt8]?
        do throws(LinkError) { bytes = try await link.receive() } catch {
            take(error)
            throw error
        }
        if let bytes { take(bytes, "received", received) }
        return bytes
    }

    public func receiveAvailable() async throws(LinkError) -> [UInt8] {
        let bytes: [UInt8]
        do throws(LinkError) { bytes = try await link.receiveAvailable() } catch {
            take(error)
            throw error
        }
        take(bytes, "received", received)
        return bytes
    }

    public func forward(to receiver: @escaping @Sendable (LinkArrival) -> Void) async {
        await link.forward { arrival in
            switch arrival {
            case .bytes(let bytes): self.take(bytes, "received", self.received)
            case .ended(let error): if let error { self.take(error) }
            }
            receiver(arrival)
        }
    }

    public func confirmConnection() async throws(LinkError) {
        do throws(LinkError) { try await link.confirmConnection() } catch {
            take(error)
            throw error
        }
    }

    public func close() async {
        await link.close()
        takeRest()
    }

    // MARK: What is kept

    private func take(_ bytes: [UInt8], _ kind: String, _ lines: borrowing Mutex<LineFramer>) {
        if keepsPacketBounds { return keep(bytes, kind) }
        lines.withLock { framer in
            framer.append(bytes.span) { line, _ in keep(line.withUnsafeBufferPointer { Array($0) }, kind) }
        }
    }

    private func take(_ error: LinkError) {
        guard ![.cancelled, .closed, .unsupported].contains(error.code) else { return }
        takeRest()
        record(.lost(error))
    }

    /// Nothing ends the lines that have begun.
    private func takeRest() {
        received.withLock { framer in
            keep(framer.pending, "received")
            framer = LineFramer(limit: Self.lineLimit)
        }
        sent.withLock { framer in
            keep(framer.pending, "sent")
            framer = LineFramer(limit: Self.lineLimit)
        }
    }

    private func keep(_ bytes: [UInt8], _ kind: String) {
        if bytes.isEmpty { return }
        if let text = String(validating: bytes, as: UTF8.self) {
            record(.event(kind: kind, text: text))
        } else {
            record(.event(kind: kind + "_hex", text: bytes.map(Self.hexadecimal).joined()))
        }
    }

    private static func hexadecimal(_ byte: UInt8) -> String { (byte < 16 ? "0" : "") + String(byte, radix: 16) }
}
