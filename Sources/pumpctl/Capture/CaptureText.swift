import CaptureFormat
import LineProtocol

/// Prints a capture for people.
struct CaptureText: CapturePrinter {
    /// One direction of a link.
    private struct Stream: Hashable {
        /// The number of the link in the capture, from 1.
        var link: Int
        /// `>` for sent, `<` for received bytes.
        var mark: String
    }

    /// Whether pieces are shown as they arrived, instead of lines.
    let pieces: Bool
    /// The incomplete lines of each direction.
    private var framers: [Stream: LineFramer] = [:]
    /// The links whose pieces are packets, which are not joined to lines.
    private var packetLinks: Set<Int> = []
    /// The time of the last event.
    private var last = Duration.zero

    init(pieces: Bool) { self.pieces = pieces }

    func begin(_ header: CaptureHeader) -> String {
        "\(header.family), captured by \(header.program) at \(header.started)".printable() + "\n"
    }

    mutating func text(of event: CaptureEvent) -> String {
        last = event.time
        switch event.content {
        case .opened(let facts):
            if facts.keepsPacketBounds { packetLinks.insert(event.link) }
            let origin = facts.endpoint == facts.name ? "" : " (from \(facts.endpoint))"
            return row(event, "*", ("\(facts.name) is open" + origin).printable())
        case .sent(let piece): return text(of: piece, event, ">")
        case .received(let piece): return text(of: piece, event, "<")
        case .breakSent: return row(event, ">", "(break)")
        case .ended(let code, let detail):
            let rest = framers.keys.filter { $0.link == event.link }.sorted { $0.mark < $1.mark }.map(pending).joined()
            for stream in framers.keys where stream.link == event.link { framers[stream] = nil }
            let reason = [code, detail].compactMap { $0 }.joined(separator: ": ")
            return rest + row(event, "*", "the link ended" + (reason.isEmpty ? "" : ": \(reason)".printable()))
        }
    }

    /// Returns the incomplete lines at the end of the capture.
    func end() -> String { framers.keys.sorted { ($0.link, $0.mark) < ($1.link, $1.mark) }.map(pending).joined() }

    private mutating func text(of piece: CaptureEvent.Piece, _ event: CaptureEvent, _ mark: String) -> String {
        if pieces || packetLinks.contains(event.link) { return row(event, mark, piece.bytes.printable()) }
        var rows = ""
        // A longer line is shown in pieces: a device that never ends a line must not exhaust the memory.
        var framer = framers[Stream(link: event.link, mark: mark)] ?? LineFramer(limit: 1 << 16)
        framer.append(piece.bytes.span) { line, _ in
            rows += row(event, mark, line.withUnsafeBufferPointer { Array($0) }.printable())
        }
        framers[Stream(link: event.link, mark: mark)] = framer
        return rows
    }

    /// Returns the incomplete line of a direction; an empty text if there is none.
    private func pending(_ stream: Stream) -> String {
        guard let bytes = framers[stream]?.pending, !bytes.isEmpty else { return "" }
        return row(at: last, stream.link, stream.mark, bytes.printable() + " (no line end)")
    }

    private func row(_ event: CaptureEvent, _ mark: String, _ text: String) -> String {
        row(at: event.time, event.link, mark, text)
    }

    private func row(at time: Duration, _ link: Int, _ mark: String, _ text: String) -> String {
        let seconds = time.secondsToMicroseconds
        let number = link > 1 ? "[\(link)] " : ""
        return String(repeating: " ", count: max(0, 12 - seconds.utf8.count)) + "\(seconds) \(number)\(mark) \(text)\n"
    }
}
