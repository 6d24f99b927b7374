internal import LineProtocol

/// Text of a device for a terminal, line by line: what a terminal would act on is escaped.
struct TerminalText {
    private var framer = LineFramer(limit: 1024)

    /// Takes in text, cut anywhere; returns the lines that it completes.
    mutating func take(_ text: [UInt8]) -> [UInt8] {
        var lines = ""
        framer.append(text.span) { line, ending in
            lines += line.withUnsafeBufferPointer { Array($0) }.printable() + (ending == .cut ? "" : "\n")
        }
        return Array(lines.utf8)
    }

    /// The line whose end has not come.
    func takeRest() -> [UInt8] { Array(framer.pending.printable().utf8) }
}
