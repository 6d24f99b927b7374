import CaptureFormat
import LineProtocol

/// Prints a capture as a test fixture: Swift code for `ScriptedSession` of DeviceTestKit.
struct CaptureFixture: CapturePrinter {
    /// Whether each received piece is a step. Otherwise a piece without a line end is joined with the next piece,
    /// unless the pieces are packets.
    let pieces: Bool
    /// Whether the pieces of the link are packets.
    private var keepsPacketBounds = false
    /// The received bytes of an incomplete step.
    private var received: [UInt8] = []

    init(pieces: Bool) { self.pieces = pieces }

    func begin(_ header: CaptureHeader) -> String {
        """
        import DeviceTestKit

        extension ScriptedSession {
            /// A session with a \(header.family.printable()), captured by \(header.program.printable()) at \(header.started.printable()).
            static let captured = ScriptedSession(
                steps: [

        """
    }

    mutating func text(of event: CaptureEvent) -> String {
        if case .received(let piece) = event.content {
            received += piece.bytes
            return pieces || keepsPacketBounds || !piece.lines.isEmpty ? takeReceived() : ""
        }
        if case .opened(let facts) = event.content { keepsPacketBounds = facts.keepsPacketBounds }
        return takeReceived() + step(of: event)
    }

    /// Removes the received bytes so far and returns their step; an empty text if there are none.
    private mutating func takeReceived() -> String {
        defer { received = [] }
        return received.isEmpty ? "" : step("received(\(Self.literal(received)))")
    }

    /// Returns the step of an event; an empty text for received bytes, and for the end of a link that was not lost.
    private func step(of event: CaptureEvent) -> String {
        switch event.content {
        case .opened(let facts):
            return step(
                "opened(keepsPacketBounds: \(facts.keepsPacketBounds), mayHaveReset: \(facts.mayHaveReset), "
                    + "mayBeMidLine: \(facts.mayBeMidLine), packetCapacity: \(facts.packetCapacity.map(String.init) ?? "nil"))"
            )
        case .sent(let piece): return step("sent(\(Self.literal(piece.bytes)))")
        case .received: return ""
        // A scripted link can't represent a break.
        case .breakSent: return "            // Here a break was sent.\n"
        case .ended(let code?, _): return step("lost(\(Self.literal(Array(code.utf8))))")
        case .ended(nil, _): return ""
        }
    }

    mutating func end() -> String {
        takeReceived() + """
                    ])
            }

            """
    }

    private func step(_ text: String) -> String { "            .\(text),\n" }

    /// Returns a string literal, or an array of numbers if the bytes are not valid UTF-8.
    private static func literal(_ bytes: [UInt8]) -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            return "bytes: ["
                + bytes.map { "0x" + ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined(separator: ", ") + "]"
        }
        var literal = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\n": literal += "\\n"
            case "\r": literal += "\\r"
            case "\t": literal += "\\t"
            case "\\", "\"": literal += "\\\(scalar)"
            default:
                if scalar.isPrintable {
                    literal.unicodeScalars.append(scalar)
                } else {
                    literal += "\\u{\(String(scalar.value, radix: 16))}"
                }
            }
        }
        return "\"\(literal)\""
    }
}
