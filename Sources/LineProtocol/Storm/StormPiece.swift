/// A piece of a storm sensor's output.
public enum StormPiece: Sendable, Hashable {
    /// The prefix `LOG Values: `: the stored log begins.
    case logBegins
    /// The next bytes of the stored log, unchanged and cut anywhere.
    case log([UInt8])
    /// A complete live row, without its prefix and line end.
    case live([UInt8])
}
