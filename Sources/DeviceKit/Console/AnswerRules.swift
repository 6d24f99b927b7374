public import LineProtocol

/// The rules that decide when the answer to a line is complete, and which lines report an error.
public struct AnswerRules: Sendable, Hashable {
    /// The longest silence before an answer begins. If ``end`` is set, the limit applies to each silence until the end
    /// of the answer.
    public var timeout = PumpSession.defaultTimeout
    /// The silence that ends an answer, if no ``end`` is set. The default is chosen, not measured.
    public var quiet = Duration.milliseconds(500)
    /// The lines that end an answer; nil if a silence of ``quiet`` ends each answer.
    public var end: LinePattern?
    /// Lines that report an error, in addition to the errors that the family defines; nil if there are no additional
    /// ones.
    public var failure: LinePattern?

    /// Creates rules for an answer that ends with half a second of silence.
    public init() {}

    /// Returns the error that a line reports: its code, or the whole line if only ``failure`` matches it. Returns nil
    /// if the line reports no error.
    func error(in line: DeviceLine, of family: Family) -> String? {
        if let code = family.errorCode(of: line) { return code }
        return line.isWhole && failure?.matches(line.text) == true ? line.text : nil
    }

    /// Whether a line ends an answer.
    func isEnd(_ line: DeviceLine) -> Bool { line.isWhole && end?.matches(line.text) == true }
}

/// The end of the lines that a host sends.
public enum LineEnds: String, Sendable, Hashable, CaseIterable {
    /// A line feed, 0x0A.
    case lf
    /// A carriage return, 0x0D.
    case cr
    /// A carriage return and a line feed.
    case crlf
    /// No line end.
    case none

    /// The bytes of the line end.
    public var bytes: [UInt8] {
        switch self {
        case .lf: [0x0A]
        case .cr: [0x0D]
        case .crlf: [0x0D, 0x0A]
        case .none: []
        }
    }
}

extension Link {
    /// Returns the bytes that end a line on this link.
    ///
    /// - Parameter ends: The requested line end; nil for the default, which is a line feed, or nothing if each packet
    ///   is a line.
    /// - Returns: The bytes to append to each line.
    public func lineEnd(_ ends: LineEnds?) -> [UInt8] { (ends ?? (keepsPacketBounds ? .none : .lf)).bytes }
}
