internal import LineProtocol

/// A line of the device, or what there is of one, ready to be shown.
public struct DeviceLine: Sendable, Hashable {
    /// The text, with what can't be printed escaped.
    public var text: String
    /// Whether the end of the line has come.
    public var hasEnd: Bool
    /// Whether the beginning of the line was shown before.
    public var isContinuation: Bool

    /// A line of those parts.
    public init(text: String, hasEnd: Bool, isContinuation: Bool) {
        self.text = text
        self.hasEnd = hasEnd
        self.isContinuation = isContinuation
    }

    /// Whether this is all of the line.
    public var isWhole: Bool { hasEnd && !isContinuation }

    /// The text, with marks for what is missing of it.
    public var marked: String { (isContinuation ? "…" : "") + text + (hasEnd ? "" : " (no line end)") }
}

extension Family {
    /// The code of the error that a line of the device tells of; nil where it tells of none.
    func errorCode(of line: DeviceLine) -> String? {
        line.isContinuation ? nil : wire.errorCode(Array(line.text.utf8).span, line.hasEnd ? .lineFeed : .cut)
    }
}
