internal import LineProtocol

/// A complete or partial line from the device, for people.
public struct DeviceLine: Sendable, Hashable {
    /// The text, with unprintable characters escaped.
    public var text: String
    /// Whether the line end has arrived.
    public var hasEnd: Bool
    /// Whether an earlier ``DeviceLine`` contains the beginning of the line.
    public var isContinuation: Bool

    /// Creates a line from its parts.
    public init(text: String, hasEnd: Bool, isContinuation: Bool) {
        self.text = text
        self.hasEnd = hasEnd
        self.isContinuation = isContinuation
    }

    /// Whether the line is complete: neither its beginning nor its end is missing.
    public var isWhole: Bool { hasEnd && !isContinuation }

    /// The text, with marks for a missing beginning or end.
    public var marked: String { (isContinuation ? "…" : "") + text + (hasEnd ? "" : " (no line end)") }
}

extension Family {
    /// Returns the code of the error that a line reports; nil if the line reports no error.
    func errorCode(of line: DeviceLine) -> String? {
        line.isContinuation ? nil : wire.errorCode(Array(line.text.utf8).span, line.hasEnd ? .lineFeed : .cut)
    }
}
