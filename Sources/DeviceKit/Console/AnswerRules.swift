public import LineProtocol

/// By what the answer to a line is known to have ended, and to tell of an error.
public struct AnswerRules: Sendable, Hashable {
    /// How long the first line is waited for, and each further one where ``end`` is given.
    public var timeout = PumpSession.defaultTimeout
    /// How long a silence ends an answer, where no ``end`` is given.
    public var quiet = Duration.milliseconds(500)
    /// The lines that end an answer; nil where a silence does.
    public var end: LinePattern?
    /// The lines that tell of an error, beside those of which the family says so.
    public var failure: LinePattern?

    /// An answer that ends by a silence of half a second.
    public init() {}

    /// The error that a line tells of: its code, or the line where ``failure`` describes it; nil where it tells of none.
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
    /// Nothing.
    case none

    /// Its bytes.
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
    /// The bytes that end a line on this link.
    ///
    /// - Parameter ends: What was asked for; nil for a line feed, or for nothing where the device takes a packet for a line.
    public func lineEnd(_ ends: LineEnds?) -> [UInt8] { (ends ?? (keepsPacketBounds ? .none : .lf)).bytes }
}
