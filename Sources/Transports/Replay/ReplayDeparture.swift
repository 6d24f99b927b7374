internal import LineProtocol

/// A difference between the behaviour of a host and the captured session.
public struct ReplayDeparture: Error, Sendable, Hashable {
    /// An act of a host.
    public enum Act: Sendable, Hashable {
        /// The host sends bytes.
        case sends([UInt8])
        /// The host holds the line in the break condition.
        case sendsBreak
        /// The host does nothing, or closes the link.
        case nothing
    }

    /// The place in the capture, for people: a line such as `pump.capture:12`, or the end of the file.
    public var place: String
    /// The act in the capture.
    public var expected: Act
    /// The act of the host.
    public var got: Act
}

extension ReplayDeparture: CustomStringConvertible {
    public var description: String { "the host departs from the capture at \(place): expected \(expected), got \(got)" }
}

extension ReplayDeparture.Act: CustomStringConvertible {
    /// The act in words; bytes as in `"STATUS\n"`.
    public var description: String {
        switch self {
        case .sends(let bytes):
            "\"" + bytes.printable(limit: 80).replacing("\\x0a", with: "\\n").replacing("\\x0d", with: "\\r") + "\""
        case .sendsBreak: "a break"
        case .nothing: "nothing"
        }
    }
}
