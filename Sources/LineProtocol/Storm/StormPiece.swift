/// A piece of a storm sensor's output.
public enum StormPiece: Sendable, Hashable {
    /// The prefix `LOG Values: `. The stored log begins, or, if the link keeps packet bounds, may continue.
    case logBegins
    /// The next bytes of the stored log, unchanged and cut anywhere.
    case log([UInt8])
    /// A complete live row, without its prefix and line end.
    case live([UInt8])
}
