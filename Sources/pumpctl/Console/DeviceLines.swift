import LineProtocol

/// A line of the device, or what there is of one, ready to be shown.
struct DeviceLine: Hashable {
    /// The text, with what can't be printed escaped.
    var text: String
    /// Whether the end of the line has come.
    var hasEnd: Bool
    /// Whether the beginning of the line was shown before.
    var isContinuation: Bool

    /// Whether this is all of the line.
    var isWhole: Bool { hasEnd && !isContinuation }

    /// The text, with marks for what is missing of it.
    var marked: String { (isContinuation ? "…" : "") + text + (hasEnd ? "" : " (no line end)") }
}

/// Puts together the lines of the device, and gives out what waits too long for its end.
struct DeviceLines {
    /// How long the end of a line is waited for.
    static let patience = Duration.milliseconds(200)

    /// The longest line that is shown in one piece, in bytes.
    static let lineLimit = 1024

    private var framer = LineFramer(limit: lineLimit)
    private var isContinuing = false

    /// Whether the end of a line has not come.
    var hasPending: Bool { framer.pendingByteCount > 0 }

    /// The lines that `bytes` complete; empty ones say nothing and are left out.
    mutating func append(_ bytes: [UInt8]) -> [DeviceLine] {
        var lines: [DeviceLine] = []
        var wasContinuing = isContinuing
        framer.append(bytes.span) { line, ending in
            defer { wasContinuing = ending == .cut }
            guard !line.isEmpty else { return }
            let text = line.withUnsafeBufferPointer { Array($0) }.printable()
            lines.append(DeviceLine(text: text, hasEnd: ending != .cut, isContinuation: wasContinuing))
        }
        isContinuing = wasContinuing
        return lines
    }

    /// What has come of a line without its end.
    mutating func takePending() -> DeviceLine? {
        guard hasPending else { return nil }
        let line = DeviceLine(text: framer.pending.printable(), hasEnd: false, isContinuation: isContinuing)
        framer = LineFramer(limit: Self.lineLimit)
        isContinuing = true
        return line
    }

    /// Forgets what was heard: another line begins.
    mutating func reset() { self = DeviceLines() }
}
