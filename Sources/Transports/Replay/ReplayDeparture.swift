internal import LineProtocol

/// Where a host does something else than was captured.
public struct ReplayDeparture: Error, Sendable, Hashable {
    /// What a host does.
    public enum Act: Sendable, Hashable {
        /// It sends bytes.
        case sends([UInt8])
        /// It holds the line in the break condition.
        case sendsBreak
        /// It does nothing, or closes the link.
        case nothing
    }

    /// The line of the capture, as in `pump.capture:12`; the file alone behind its end.
    public var place: String
    /// What was captured.
    public var expected: Act
    /// What the host did.
    public var got: Act
}

extension ReplayDeparture: CustomStringConvertible {
    public var description: String { "the host departs from the capture at \(place): expected \(expected), got \(got)" }
}

extension ReplayDeparture.Act: CustomStringConvertible {
    /// As in `"STATUS\n"`.
    public var description: String {
        switch self {
        case .sends(let bytes):
            "\"" + bytes.printable(limit: 80).replacing("\\x0a", with: "\\n").replacing("\\x0d", with: "\\r") + "\""
        case .sendsBreak: "a break"
        case .nothing: "nothing"
        }
    }
}
