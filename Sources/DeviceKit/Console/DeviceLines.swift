internal import LineProtocol

/// Assembles the device's lines from bytes. If a line's end is overdue, ``takePending()`` returns the partial line.
public struct DeviceLines: Sendable {
    /// The time without further bytes after which a partial line should be shown. Chosen, not measured.
    public static let patience = Duration.milliseconds(200)

    /// The longest line that is shown in one piece, in bytes. Chosen, so that endless text without a line end is shown.
    public static let lineLimit = 1024

    private var framer = LineFramer(limit: lineLimit)
    /// Whether the beginning of the current line was returned already.
    private var isContinuing = false

    /// Creates an assembler that has received nothing.
    public init() {}

    /// Whether a partial line is waiting for its end.
    public var hasPending: Bool { !framer.pending.withoutNULs.isEmpty }

    /// Reads the lines that have arrived on a link already, which can't answer lines that are sent from now on. Never
    /// waits for the device.
    static func earlier(on link: any Link) async throws(LinkError) -> [DeviceLine] {
        var (lines, earlier) = (DeviceLines(), [DeviceLine]())
        // The limit ensures that a device that talks without pause can't delay the first sent line, which may be OFF.
        for _ in 0..<earlierReads {
            let bytes = try await link.receiveAvailable()
            if bytes.isEmpty { break }
            earlier += lines.append(bytes)
        }
        if let rest = lines.takePending() { earlier.append(rest) }
        return earlier
    }

    /// The largest number of reads by ``earlier(on:)``. Chosen, not measured.
    private static let earlierReads = 64

    /// Adds bytes and returns the lines that they complete. A line longer than ``lineLimit`` is returned in pieces.
    /// Empty lines and NULs around a line are left out.
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

    /// Removes and returns the partial line, if there is one. The rest of the line becomes a continuation.
    public mutating func takePending() -> DeviceLine? {
        guard hasPending else { return nil }
        let line = DeviceLine(text: framer.pending.withoutNULs.printable(), hasEnd: false, isContinuation: isContinuing)
        framer = LineFramer(limit: Self.lineLimit)
        isContinuing = true
        return line
    }

    /// Forgets the partial line, so that the next byte begins a new line.
    public mutating func reset() { self = DeviceLines() }
}
