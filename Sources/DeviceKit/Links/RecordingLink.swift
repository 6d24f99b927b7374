public import LineProtocol
public import RecordFormat
internal import Synchronization

/// A link that passes its traffic to a closure for the record, line by line, or packet by packet if the link keeps
/// packet bounds. A ``TracedLink`` shows traffic to a person instead, and a ``CapturingLink`` writes a capture.
///
/// Each line (without its end) or packet is an event, `received` or `sent`, with its text unchanged. Empty lines are
/// left out. Bytes that are not UTF-8 are recorded in hexadecimal, as `received_hex` or `sent_hex`.
public final class RecordingLink: LinkWrapper {
    /// The longest line in bytes that is recorded in one piece. A longer line is recorded in pieces of this size.
    public static let lineLimit = 1 << 16

    /// A recorded occurrence.
    public enum Entry: Sendable, Hashable {
        /// A line or a packet: `received`, `sent`, `received_hex` or `sent_hex`. A daemon adds `command`, a change of
        /// the device with its author and its outcome.
        case event(kind: String, text: String)
        /// The device reported values. A ``RecordingLink`` does not understand its traffic and never sends this entry;
        /// a program that does understand it records the values by ``SharedRecording/record(_:)``.
        case reading(Reading)
        /// The link was lost. Recorded for each call that fails for this reason, so perhaps more than once.
        case lost(LinkError)
    }

    public let link: any Link
    private let record: @Sendable (Entry) -> Void
    /// The incomplete line that was received.
    private let received = Mutex(LineFramer(limit: lineLimit))
    /// The incomplete line that was sent.
    private let sent = Mutex(LineFramer(limit: lineLimit))

    /// Records the traffic on `link`.
    ///
    /// - Parameters:
    ///   - link: An open link.
    ///   - record: Called with each entry, in order; must not block.
    public init(_ link: any Link, record: @escaping @Sendable (Entry) -> Void) {
        self.link = link
        self.record = record
    }

    // MARK: Link

    public func send(_ bytes: [UInt8]) async throws(LinkError) {
        // Record before sending, because the answer may arrive before `send` returns. If sending fails, part of the
        // bytes may have gone out.
        take(bytes, "sent", sent)
        do throws(LinkError) { try await link.send(bytes) } catch {
            take(error)
            throw error
        }
    }

    /// Sends before recording, because the bytes may be OFF, which nothing may delay. The bytes are still recorded
    /// before their answer.
    public func sendAtOnce(_ bytes: [UInt8]) throws(LinkError) -> Bool {
        let isSent: Bool
        do throws(LinkError) { isSent = try link.sendAtOnce(bytes) } catch {
            take(bytes, "sent", sent)
            take(error)
            throw error
        }
        if isSent { take(bytes, "sent", sent) }
        return isSent
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

    // MARK: Recording

    /// Records the lines that `bytes` complete, or the packet.
    private func take(_ bytes: [UInt8], _ kind: String, _ lines: borrowing Mutex<LineFramer>) {
        if keepsPacketBounds { return keep(bytes, kind) }
        lines.withLock { framer in
            framer.append(bytes.span) { line, _ in keep(line.withUnsafeBufferPointer { Array($0) }, kind) }
        }
    }

    /// Records the loss of the link, unless the call was cancelled or unsupported, or this program closed the link.
    private func take(_ error: LinkError) {
        guard ![.cancelled, .closed, .unsupported].contains(error.code) else { return }
        takeRest()
        record(.lost(error))
    }

    /// Records incomplete lines, whose ends will not arrive any more.
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

    /// Records a line or a packet as one event.
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
