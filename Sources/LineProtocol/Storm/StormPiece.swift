/// A piece of what a storm sensor says.
public enum StormPiece: Sendable, Hashable {
    /// The stored log begins: what follows `LOG Values: `.
    case logBegins
    /// The next bytes of the stored log, as they came; cut anywhere.
    case log([UInt8])
    /// A live row, whole, without its prefix and its line end.
    case live([UInt8])
}
