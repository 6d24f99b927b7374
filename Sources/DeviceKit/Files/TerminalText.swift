internal import LineProtocol

/// Escapes a device's text for a terminal, line by line, so that the device can't send control sequences.
struct TerminalText {
    private var framer = LineFramer(limit: 1024)

    /// Adds text, which may be cut anywhere. Returns the escaped lines that are complete now. A line of more than 1024
    /// bytes is returned in pieces.
    mutating func take(_ text: [UInt8]) -> [UInt8] {
        var lines = ""
        framer.append(text.span) { line, ending in
            lines += line.withUnsafeBufferPointer { Array($0) }.printable() + (ending == .cut ? "" : "\n")
        }
        return Array(lines.utf8)
    }

    /// Returns the escaped text of the line whose end has not arrived.
    func takeRest() -> [UInt8] { Array(framer.pending.printable().utf8) }
}
