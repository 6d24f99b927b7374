internal import CaptureFormat
internal import LineProtocol
internal import Synchronization

/// A link that captures its traffic: the bytes, and the lines that each piece completes.
final class CapturingLink: LinkWrapper {
    /// The longest line in bytes that is kept in one piece.
    static let lineLimit = 1 << 16

    let link: any Link
    private let note: @Sendable (CaptureEvent.Content) -> Void
    /// The incomplete line that was received.
    private let received = Mutex(LineFramer(limit: lineLimit))
    /// The incomplete line that was sent.
    private let sent = Mutex(LineFramer(limit: lineLimit))
    private let hasEnded = Mutex(false)

    /// Captures the traffic on `link`.
    ///
    /// - Parameters:
    ///   - link: An open link.
    ///   - note: Called with each event, in order.
    init(_ link: any Link, note: @escaping @Sendable (CaptureEvent.Content) -> Void) {
        self.link = link
        self.note = note
    }

    // MARK: Link

    /// Sends before capturing, because the bytes may be OFF, which nothing may delay. The bytes are still captured
    /// before their answer.
    func sendAtOnce(_ bytes: [UInt8]) throws(LinkError) -> Bool {
        let isSent: Bool
        do throws(LinkError) { isSent = try link.sendAtOnce(bytes) } catch {
            noteSent(bytes)
            noteEnd(error)
            throw error
        }
        if isSent { noteSent(bytes) }
        return isSent
    }

    /// Captures before sending, because the answer may arrive before `send` returns.
    func send(_ bytes: [UInt8]) async throws(LinkError) {
        noteSent(bytes)
        do throws(LinkError) { try await link.send(bytes) } catch {
            noteEnd(error)
            throw error
        }
    }

    func sendBreak(for duration: Duration) async throws(LinkError) {
        try await link.sendBreak(for: duration)
        note(.breakSent(duration))
    }

    func receive() async throws(LinkError) -> [UInt8]? {
        let bytes: [UInt8]?
        do throws(LinkError) { bytes = try await link.receive() } catch {
            noteEnd(error)
            throw error
        }
        if let bytes { noteReceived(bytes) }
        return bytes
    }

    func receiveAvailable() async throws(LinkError) -> [UInt8] {
        let bytes: [UInt8]
        do throws(LinkError) { bytes = try await link.receiveAvailable() } catch {
            noteEnd(error)
            throw error
        }
        noteReceived(bytes)
        return bytes
    }

    func forward(to receiver: @escaping @Sendable (LinkArrival) -> Void) async {
        await link.forward { arrival in
            switch arrival {
            case .bytes(let bytes): self.noteReceived(bytes)
            case .ended(let error): self.noteEnd(error)
            }
            receiver(arrival)
        }
    }

    func confirmConnection() async throws(LinkError) {
        do throws(LinkError) { try await link.confirmConnection() } catch {
            noteEnd(error)
            throw error
        }
    }

    func close() async {
        await link.close()
        noteEnd(nil)
    }

    // MARK: Capturing

    private func noteSent(_ bytes: [UInt8]) { note(.sent(piece(bytes, sent))) }

    private func noteReceived(_ bytes: [UInt8]) {
        if !bytes.isEmpty { note(.received(piece(bytes, received))) }
    }

    /// Returns bytes with the lines that they complete. A packet counts as one line.
    private func piece(_ bytes: [UInt8], _ framer: borrowing Mutex<LineFramer>) -> CaptureEvent.Piece {
        if keepsPacketBounds { return CaptureEvent.Piece(bytes, lines: [String(decoding: bytes, as: UTF8.self)]) }
        var lines: [String] = []
        framer.withLock { framer in
            framer.append(bytes.span) { line, _ in
                lines.append(line.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) })
            }
        }
        return CaptureEvent.Piece(bytes, lines: lines)
    }

    /// Captures the end of the link once. A call that was cancelled or is unsupported does not end the link.
    private func noteEnd(_ error: LinkError?) {
        if let error, [.cancelled, .unsupported].contains(error.code) { return }
        let isFirst = hasEnded.withLock { hasEnded in
            defer { hasEnded = true }
            return !hasEnded
        }
        guard isFirst else { return }
        // A link that this program closed ended without an error.
        let lost = error?.code == .closed ? nil : error
        note(.ended(code: lost?.code.rawValue, detail: lost?.detail))
    }
}
