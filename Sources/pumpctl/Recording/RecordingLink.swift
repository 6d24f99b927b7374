import LineProtocol
import RecordFormat
import Synchronization

/// A link that records what goes over it: line by line, or packet by packet where there are packets.
///
/// Each is an event, `received` or `sent`, with its text as it was. What is not UTF-8 is kept in hexadecimals, as
/// `received_hex` or `sent_hex`.
final class RecordingLink: LinkWrapper {
    /// The longest line in bytes that is kept as one.
    static let lineLimit = 1 << 16

    /// What is recorded.
    enum Entry: Sendable, Hashable {
        case event(kind: String, text: String)
        /// The link was lost.
        case lost(LinkError)
    }

    let link: any Link
    private let record: @Sendable (Entry) -> Void
    /// What was received and sent of lines whose ends have not come.
    private let received = Mutex(LineFramer(limit: lineLimit))
    private let sent = Mutex(LineFramer(limit: lineLimit))

    /// - Parameter record: Called with each entry, in order; must not block.
    init(_ link: any Link, record: @escaping @Sendable (Entry) -> Void) {
        self.link = link
        self.record = record
    }

    // MARK: Link

    func send(_ bytes: [UInt8]) async throws(LinkError) {
        do throws(LinkError) { try await link.send(bytes) } catch {
            // Part of it may have gone out.
            take(bytes, "sent", sent)
            take(error)
            throw error
        }
        take(bytes, "sent", sent)
    }

    func sendAtOnce(_ bytes: [UInt8]) throws(LinkError) -> Bool {
        guard try link.sendAtOnce(bytes) else { return false }
        take(bytes, "sent", sent)
        return true
    }

    func receive() async throws(LinkError) -> [UInt8]? {
        let bytes: [UInt8]?
        do throws(LinkError) { bytes = try await link.receive() } catch {
            take(error)
            throw error
        }
        if let bytes { take(bytes, "received", received) }
        return bytes
    }

    func receiveAvailable() async throws(LinkError) -> [UInt8] {
        let bytes: [UInt8]
        do throws(LinkError) { bytes = try await link.receiveAvailable() } catch {
            take(error)
            throw error
        }
        take(bytes, "received", received)
        return bytes
    }

    func forward(to receiver: @escaping @Sendable (LinkArrival) -> Void) async {
        await link.forward { arrival in
            switch arrival {
            case .bytes(let bytes): self.take(bytes, "received", self.received)
            case .ended(let error): if let error { self.take(error) }
            }
            receiver(arrival)
        }
    }

    func confirmConnection() async throws(LinkError) {
        do throws(LinkError) { try await link.confirmConnection() } catch {
            take(error)
            throw error
        }
    }

    func close() async {
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

extension CommandContext {
    /// The link, and where `--record` asks for it and the command reads no values, a record of what goes over it.
    ///
    /// - Parameters:
    ///   - name: The device, as people name it.
    ///   - device: What tells it from others; nil where nothing does.
    ///   - note: Where to tell what is wrong with the record.
    func recorded(
        _ link: any Link, as name: String, device: @autoclosure @escaping @Sendable () -> String? = nil,
        note: @escaping @Sendable (String) -> Void
    ) -> any Link {
        guard records == .lines, options.record == true else { return link }
        let opened = RecordTime.now
        let session = LinkSession(on: loop) { [self] in
            guard let recording = await record.recording(self, note) else { return nil }
            return (recording, recording.beginSession(named: name, device: device(), at: opened))
        }
        record.add(session)
        return RecordingLink(link) { session.take($0) }
    }
}
