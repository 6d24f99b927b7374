internal import LineProtocol

/// Puts together the lines of the device, and gives out what waits too long for its end.
public struct DeviceLines: Sendable {
    /// How long the end of a line is waited for.
    public static let patience = Duration.milliseconds(200)

    /// The longest line that is shown in one piece, in bytes.
    public static let lineLimit = 1024

    private var framer = LineFramer(limit: lineLimit)
    private var isContinuing = false

    /// Nothing was heard.
    public init() {}

    /// Whether the end of a line has not come.
    public var hasPending: Bool { !framer.pending.withoutNULs.isEmpty }

    /// What has lain on a link since before it was opened, and so answers nothing that is sent now. It waits for nothing.
    static func earlier(on link: any Link) async throws(LinkError) -> [DeviceLine] {
        var (lines, earlier) = (DeviceLines(), [DeviceLine]())
        // A device that talks on and on must not keep what is to be sent, which may be OFF.
        for _ in 0..<earlierReads {
            let bytes = try await link.receiveAvailable()
            if bytes.isEmpty { break }
            earlier += lines.append(bytes)
        }
        if let rest = lines.takePending() { earlier.append(rest) }
        return earlier
    }

    private static let earlierReads = 64

    /// The lines that `bytes` complete; empty ones say nothing and are left out, and so are
    /// NULs around a line.
    public mutating func append(_ bytes: [UInt8]) -> [DeviceLine] {
        var lines: [DeviceLine] = []
        var wasContinuing = isContinuing
        framer.append(bytes.span) { line, ending in
            defer { wasContinuing = ending == .cut }
            let bytes = line.withUnsafeBufferPointer { Array($0) }.withoutNULs
            guard !bytes.isEmpty else { return }
            let text = bytes.printable()
            lines.append(DeviceLine(text: text, hasEnd: ending != .cut, isContinuation: wasContinuing))
        }
        isContinuing = wasContinuing
        return lines
    }

    /// What has come of a line without its end.
    public mutating func takePending() -> DeviceLine? {
        guard hasPending else { return nil }
        let line = DeviceLine(text: framer.pending.withoutNULs.printable(), hasEnd: false, isContinuation: isContinuing)
        framer = LineFramer(limit: Self.lineLimit)
        isContinuing = true
        return line
    }

    /// Forgets what was heard: another line begins.
    public mutating func reset() { self = DeviceLines() }
}
