import CaptureFormat
import LineProtocol

/// A capture as a fixture of a test: Swift code for the project's own `ScriptedLink`.
struct CaptureFixture: CapturePrinter {
    func begin(_ header: CaptureHeader) -> String {
        """
        import TestSupport

        extension ScriptedSession {
            /// A session with a \(header.family.printable()), captured by \(header.program.printable()) at \(header.started.printable()).
            static let captured = ScriptedSession(
                steps: [

        """
    }

    func text(of event: CaptureEvent) -> String {
        switch event.content {
        case .opened(let facts):
            return step(
                "opened(keepsPacketBounds: \(facts.keepsPacketBounds), mayHaveReset: \(facts.mayHaveReset), "
                    + "mayBeMidLine: \(facts.mayBeMidLine), packetCapacity: \(facts.packetCapacity.map(String.init) ?? "nil"))"
            )
        case .sent(let piece): return step("sent(\(Self.literal(piece.bytes)))")
        case .received(let piece): return step("received(\(Self.literal(piece.bytes)))")
        // A scripted link has no break.
        case .breakSent: return "            // Here a break was sent.\n"
        case .ended(let code?, _): return step("lost(\(Self.literal(Array(code.utf8))))")
        case .ended(nil, _): return ""
        }
    }

    func end() -> String {
        """
                ])
        }

        """
    }

    private func step(_ text: String) -> String { "            .\(text),\n" }

    /// A string literal, or an array of numbers for what is no text.
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
