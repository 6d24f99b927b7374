internal import CaptureFormat
internal import LineProtocol
internal import Synchronization

/// A link that notes what goes over it, byte by byte and with the lines that each piece completes.
final class CapturingLink: LinkWrapper {
    /// The longest line in bytes that is noted as one.
    static let lineLimit = 1 << 16

    let link: any Link
    private let note: @Sendable (CaptureEvent.Content) -> Void
    /// What was received and sent of lines whose ends have not come.
    private let received = Mutex(LineFramer(limit: lineLimit))
    private let sent = Mutex(LineFramer(limit: lineLimit))
    private let hasEnded = Mutex(false)

    /// Notes what goes over `link`.
    ///
    /// - Parameter note: Called with each event, in order.
    init(_ link: any Link, note: @escaping @Sendable (CaptureEvent.Content) -> Void) {
        self.link = link
        self.note = note
    }

    // MARK: Link

    /// As the link does. Nothing holds up what may be OFF: it is noted once it is out, and so before its answer.
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

    /// As the link does. It is noted before it is sent: its answer may come before `send` returns.
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

    // MARK: What is noted

    private func noteSent(_ bytes: [UInt8]) { note(.sent(piece(bytes, sent))) }

    private func noteReceived(_ bytes: [UInt8]) {
        if !bytes.isEmpty { note(.received(piece(bytes, received))) }
    }

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

    /// However it is used, a link ends once; a task that was cancelled has not ended it.
    private func noteEnd(_ error: LinkError?) {
        if let error, [.cancelled, .unsupported].contains(error.code) { return }
        let isFirst = hasEnded.withLock { hasEnded in
            defer { hasEnded = true }
            return !hasEnded
        }
        guard isFirst else { return }
        // What was closed here has no error, whoever finds out about it.
        let lost = error?.code == .closed ? nil : error
        note(.ended(code: lost?.code.rawValue, detail: lost?.detail))
    }
}
